import { type Json, type Message, makeId, type Protocol } from './protocol.ts';

/** OpenAI chat completions: Qwen Code, OpenCode, Copilot CLI, Cline. */
export const chat: Protocol = {
  accepts: (path) => path.endsWith('/chat/completions'),

  read: (body) => ({
    messages: body.at('messages').items.flatMap(readMessage),
    hasTools: body.at('tools').items.length > 0,
    schema: body.at('response_format', 'json_schema', 'schema').value ?? null,
  }),

  answer: (reply, body) => {
    const head = { id: makeId('chatcmpl'), created: 0, model: body.at('model').text };
    const usage = {
      prompt_tokens: reply.tokens,
      completion_tokens: 40,
      total_tokens: reply.tokens + 40,
    };
    const finish_reason = reply.call === undefined ? 'stop' : 'tool_calls';
    const tool_calls = reply.call && [
      {
        index: 0,
        id: makeId('call'),
        type: 'function',
        function: { name: reply.call.name, arguments: JSON.stringify(reply.call.args) },
      },
    ];
    if (body.at('stream').value !== true) {
      const message = { role: 'assistant', content: reply.text, ...(tool_calls && { tool_calls }) };
      return {
        document: {
          ...head,
          object: 'chat.completion',
          choices: [{ index: 0, message, finish_reason }],
          usage,
        },
      };
    }
    const chunk = (delta: unknown, finish: string | null = null): [null, unknown] => [
      null,
      { ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] },
    ];
    return {
      events: [
        chunk({ role: 'assistant', content: '' }),
        chunk({ content: reply.text }),
        ...(tool_calls ? [chunk({ tool_calls })] : []),
        chunk({}, finish_reason),
        [null, { ...head, object: 'chat.completion.chunk', choices: [], usage }],
        [null, '[DONE]'],
      ],
    };
  },
};

function readMessage(message: Json): Message[] {
  const role = message.at('role').text;
  const content = message.at('content');
  const texts = Array.isArray(content.value) ? content.items.map((part) => part.text) : [content.text];
  const calls = message.at('tool_calls').items.map((call) => call.at('function'));
  return [
    ...texts.filter((text) => text !== '').map((text) => ({ role, text })),
    ...calls.map((call) => ({ role: 'call', text: `${call.at('name').text} ${call.at('arguments').text}` })),
  ];
}
