import { type Json, type Message, makeId, type Protocol } from './protocol.ts';

/** OpenAI responses: Codex. */
export const responses: Protocol = {
  accepts: (path) => path.endsWith('/responses'),

  read: (body) => ({
    messages: [{ role: 'system', text: body.at('instructions').text }, ...body.at('input').items.flatMap(readItem)],
    hasTools: body.at('tools').items.length > 0,
    schema: body.at('text', 'format', 'schema').value ?? null,
  }),

  answer: (reply, body) => {
    const message = {
      type: 'message',
      id: makeId('msg'),
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: reply.text, annotations: [] }],
    };
    const call = reply.call && {
      type: 'function_call',
      id: makeId('fc'),
      call_id: makeId('call'),
      status: 'completed',
      name: reply.call.name,
      ...(reply.call.namespace === undefined ? {} : { namespace: reply.call.namespace }),
      arguments: JSON.stringify(reply.call.args),
    };
    const output = call === undefined ? [message] : [message, call];
    const response = {
      id: makeId('resp'),
      object: 'response',
      created_at: 0,
      status: 'completed',
      model: body.at('model').text,
      output,
      usage: {
        input_tokens: reply.tokens,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: 40,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: reply.tokens + 40,
      },
    };
    if (body.at('stream').value !== true) return { document: response };
    const events: [string, Record<string, unknown>][] = [
      ['response.created', { response: { ...response, status: 'in_progress', output: [], usage: null } }],
      ['response.output_item.added', { output_index: 0, item: { ...message, status: 'in_progress', content: [] } }],
      ['response.output_text.delta', { item_id: message.id, output_index: 0, content_index: 0, delta: reply.text }],
      ['response.output_item.done', { output_index: 0, item: message }],
    ];
    if (call !== undefined) {
      events.push(
        ['response.output_item.added', { output_index: 1, item: { ...call, status: 'in_progress' } }],
        ['response.output_item.done', { output_index: 1, item: call }],
      );
    }
    events.push(['response.completed', { response }]);
    return {
      events: events.map(([type, data], sequence_number) => [type, { type, sequence_number, ...data }]),
    };
  },
};

function readItem(item: Json): Message[] {
  const type = item.at('type').text || 'message';
  if (type === 'message') {
    const role = item.at('role').text;
    const parts = item.at('content');
    return typeof parts.value === 'string'
      ? [{ role, text: parts.value }]
      : parts.items.map((part) => ({ role, text: part.text }));
  }
  if (type.endsWith('_output')) return [{ role: 'tool', text: item.at('output').text }];
  if (type.endsWith('_call')) return [{ role: 'call', text: `${item.at('name').text} ${item.at('arguments').text}` }];
  return [];
}
