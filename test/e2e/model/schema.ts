import type { Json } from './protocol.ts';

/** The smallest value that a JSON schema allows, as far as agents use schemas. */
export function fillSchema(schema: Json, root: Json = schema): unknown {
  const reference = schema.at('$ref').text;
  if (reference !== '') return fillSchema(root.at(...reference.replace('#/', '').split('/')), root);
  const constant = schema.at('const');
  if (constant.exists) return constant.value;
  const [choice] = schema.at('enum').items;
  if (choice !== undefined) return choice.value;
  const type = (schema.at('type').items[0] ?? schema.at('type')).text.toLowerCase();
  if (type === 'object' || schema.at('properties').exists) {
    const properties = Object.keys(schema.at('properties').value ?? {});
    return Object.fromEntries(properties.map((key) => [key, fillSchema(schema.at('properties', key), root)]));
  }
  if (type === 'array') return [];
  if (type === 'boolean') return false;
  return type === 'number' || type === 'integer' ? 1 : 'scripted';
}
