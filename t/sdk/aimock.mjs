// An upstream that is not ours: the package @copilotkit/aimock, which speaks the
// three wires.  Prints its address, and ends with its standard input.
import { LLMock } from '@copilotkit/aimock';

const mock = new LLMock({ port: 0 });
mock.onMessage('hello', { content: 'Hello! Grüße \u{1F600} "quoted"\n' +
    'and a second line.' });
mock.addFixture({ match: { userMessage: 'save it', hasToolResult: false },
	response: { toolCalls: [{ name: 'save', arguments: '{"title":"T"}' }] } });
mock.addFixture({ match: { userMessage: 'save it', hasToolResult: true },
	response: { content: 'Saved.' } });
await mock.start();
console.log(mock.url);
process.stdin.on('end', () => process.exit(0)).resume();
