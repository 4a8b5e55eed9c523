import type { Json, Message, Protocol } from './protocol.ts';

/** Gemini generateContent: Gemini CLI. */
export const gemini: Protocol = {
  accepts: (path) => /:(?:generateContent|streamGenerateContent)$/.test(path),

  read: (body) => {
    const wanted = body.at('generationConfig');
    const wantsJson = wanted.at('responseMimeType').text === 'application/json';
    const schema = wanted.at('responseSchema').value ?? wanted.at('responseJsonSchema').value;
    return {
      messages: [
        { role: 'system', text: body.at('systemInstruction', 'parts').text },
        ...body.at('contents').items.flatMap(readContent),
      ],
      hasTools: body.at('tools').items.length > 0,
      schema: wantsJson ? (schema ?? { type: 'object' }) : null,
    };
  },

  answer: (reply, _body, path) => {
    const parts: unknown[] = [{ text: reply.text }];
    if (reply.call !== undefined)
      parts.push({
        functionCall: { name: reply.call.name, args: reply.call.args },
        thoughtSignature: 'c2NyaXB0',
      });
    const document = {
      candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
      usageMetadata: {
        promptTokenCount: reply.tokens,
        candidatesTokenCount: 40,
        totalTokenCount: reply.tokens + 40,
      },
      modelVersion: 'scripted',
    };
    return path.endsWith(':streamGenerateContent') ? { events: [[null, document]] } : { document };
  },
};

function readContent(content: Json): Message[] {
  const role = content.at('role').text === 'model' ? 'assistant' : 'user';
  return content.at('parts').items.map((part) => {
    const call = part.at('functionCall');
    if (call.exists) return { role: 'call', text: `${call.at('name').text} ${JSON.stringify(call.at('args').value)}` };
    const result = part.at('functionResponse', 'response');
    return result.exists ? { role: 'tool', text: JSON.stringify(result.value) } : { role, text: part.text };
  });
}
