"""Many files at once through the unmodified openai package, with its default
retries: each of them is stored."""

import asyncio
import os

import openai

from tap import done, ok

N = 200


async def main():
    async with openai.AsyncOpenAI(
        base_url=os.environ["SATCHEL_URL"] + "/v1",
        api_key=os.environ["SATCHEL_KEY"],
    ) as client:
        results = await asyncio.gather(
            *(
                client.files.create(
                    file=(f"many-{i}.txt", b"x" * 1024), purpose="user_data"
                )
                for i in range(N)
            ),
            return_exceptions=True,
        )
        made = [r for r in results if not isinstance(r, BaseException)]
        failed = {repr(r)[:200] for r in results if isinstance(r, BaseException)}
        ok(not failed, f"{N} files at once: none fails {failed or ''}")
        ok(len({f.id for f in made}) == N, "each is a file of its own")
        gate = asyncio.Semaphore(20)

        async def remove(f):
            async with gate:
                return (await client.files.delete(f.id)).deleted

        gone = await asyncio.gather(*(remove(f) for f in made))
        ok(all(gone), "and each is deleted")


asyncio.run(main())
done()
