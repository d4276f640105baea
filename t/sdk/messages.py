"""The main job through an unmodified anthropic package: upload a CSV, have it
analysed with the vendor's own code-execution tool, save the chart.

  messages.py CSV CHART   with SATCHEL_URL and SATCHEL_KEY
"""
import os
import sys

import anthropic

csv, chart = sys.argv[1:]
client = anthropic.Anthropic(api_key=os.environ["SATCHEL_KEY"], base_url=os.environ["SATCHEL_URL"])
with open(csv, "rb") as f:
    uploaded = client.beta.files.upload(file=f)
message = client.messages.create(
    model=os.environ.get("SATCHEL_MODEL", "demo"),
    max_tokens=4096,
    tools=[{"type": "code_execution_20250825", "name": "code_execution"}],
    messages=[{
        "role": "user",
        "content": [
            {"type": "text", "text": "Draw a chart of this file."},
            {"type": "container_upload", "file_id": uploaded.id},
        ],
    }],
)
for block in message.content:
    if block.type == "text":
        print(block.text)
    if block.type != "bash_code_execution_tool_result":
        continue
    for output in getattr(block.content, "content", None) or []:
        meta = client.beta.files.retrieve_metadata(output.file_id)
        if meta.mime_type != "image/png":
            continue
        with open(chart, "wb") as f:
            f.write(client.beta.files.download(output.file_id).read())
        print(f"saved {meta.filename} as {chart}")
