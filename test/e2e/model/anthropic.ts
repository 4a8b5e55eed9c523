import { type Json, type Message, makeId, type Protocol } from './protocol.ts';

/** Anthropic messages: Claude Code. */
export const anthropic: Protocol = {
  accepts: (path) => path.endsWith('/messages'),

  read: (body) => ({
    messages: [{ role: 'system', text: body.at('system').text }, ...body.at('messages').items.flatMap(readMessage)],
    hasTools: body.at('tools').items.length > 0,
    schema: body.at('output_config', 'format', 'schema').value ?? body.at('output_format', 'schema').value ?? null,
  }),

  answer: (reply, body) => {
    const content: Record<string, unknown>[] = [{ type: 'text', text: reply.text }];
    if (reply.call !== undefined)
      content.push({ type: 'tool_use', id: makeId('toolu'), name: reply.call.name, input: reply.call.args });
    const stop_reason = reply.call === undefined ? 'end_turn' : 'tool_use';
    const usage = {
      input_tokens: reply.tokens,
      output_tokens: 40,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
    };
    const head = {
      id: makeId('msg'),
      type: 'message',
      role: 'assistant',
      model: body.at('model').text,
      stop_sequence: null,
      usage,
    };
    if (body.at('stream').value !== true) return { document: { ...head, content, stop_reason } };
    const events: [string, Record<string, unknown>][] = [
      ['message_start', { message: { ...head, content: [], stop_reason: null } }],
    ];
    for (const [index, block] of content.entries()) {
      const isText = block.type === 'text';
      events.push(
        [
          'content_block_start',
          { index, content_block: isText ? { type: 'text', text: '' } : { ...block, input: {} } },
        ],
        [
          'content_block_delta',
          {
            index,
            delta: isText
              ? { type: 'text_delta', text: block.text }
              : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) },
          },
        ],
        ['content_block_stop', { index }],
      );
    }
    events.push(
      ['message_delta', { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 40 } }],
      ['message_stop', {}],
    );
    return { events: events.map(([type, data]) => [type, { type, ...data }]) };
  },
};

function readMessage(message: Json): Message[] {
  const role = message.at('role').text;
  const content = message.at('content');
  if (typeof content.value === 'string') return [{ role, text: content.value }];
  return content.items.map((part) => {
    const type = part.at('type').text;
    if (type === 'tool_use')
      return { role: 'call', text: `${part.at('name').text} ${JSON.stringify(part.at('input').value)}` };
    return { role: type === 'tool_result' ? 'tool' : role, text: part.text };
  });
}
