#!/usr/bin/env python3
"""How many bits do briefs save a language model on what really came next?

  npm run eval -- --corpus DIR --briefs BRIEFS
  python3 eval/bits.py --model FILE.gguf --corpus DIR --briefs BRIEFS [--arm NAME]... [--cuts N] [--bytes N]

Bits saved are the bits of the true continuation without a brief less those with it before the continuation, by token of
the continuation. `other` is what the brief of another session saves: what only the form of the text brings.
Needs numpy, gguf and tokenizers, uses jax where it is installed, and a GGUF file of the llama architecture with a BPE
tokenizer, such as SmolLM2. Transcripts of Claude Code only.
"""
import argparse
import collections
import gzip
import json
import math
import pathlib
import re
import sys

try:
    import numpy as np
    from gguf import GGUFReader, dequantize
    from tokenizers import Tokenizer, models, pre_tokenizers
except ImportError as missing:
    sys.exit(f'{missing.name} is not installed: pip install numpy gguf tokenizers (and jax, for speed)')
try:
    import jax.numpy as xp
except ImportError:
    xp = np

STEP = 1024  # texts are padded to a multiple of it: jax compiles every shape anew


class Model:
    def __init__(self, path):
        reader = GGUFReader(path)
        self.fields = {name: field.contents() for name, field in reader.fields.items() if not name.startswith('GGUF.')}
        if self.fields['general.architecture'] != 'llama' or self.fields['tokenizer.ggml.model'] != 'gpt2':
            sys.exit(f'{path} is not a llama with a BPE tokenizer, which is all that is supported')
        get = lambda key, otherwise=None: self.fields.get(f'llama.{key}', otherwise)
        self.layers, self.heads, self.groups = get('block_count'), get('attention.head_count'), get('attention.head_count_kv')
        self.width = get('embedding_length') // self.heads
        self.epsilon, self.base = float(get('attention.layer_norm_rms_epsilon')), float(get('rope.freq_base', 10000.0))
        self.length = get('context_length')
        weights = {
            tensor.name: np.asarray(dequantize(tensor.data, tensor.tensor_type), np.float32).reshape(
                [int(size) for size in tensor.shape][::-1]
            )
            for tensor in reader.tensors
        }
        if 'rope_freqs.weight' in weights:
            sys.exit(f'{path} scales its positions, which is not supported')
        self.weights = {name: xp.asarray(weight) for name, weight in weights.items()}
        tokens = self.fields['tokenizer.ggml.tokens']
        merges = [tuple(merge.split(' ', 1)) for merge in self.fields['tokenizer.ggml.merges']]
        self.tokenizer = Tokenizer(models.BPE(vocab={token: at for at, token in enumerate(tokens)}, merges=merges))
        self.tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
        )
        end = self.tokenizer.token_to_id('<|endoftext|>')
        self.start = self.fields['tokenizer.ggml.bos_token_id'] if end is None else end

    def encode(self, text):
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def _norm(self, x, weight):
        return x / xp.sqrt(xp.mean(x * x, -1, keepdims=True) + self.epsilon) * weight

    def _turn(self, x):
        """Rotary positions: the file has them in pairs of neighbours."""
        half = self.width // 2
        angle = xp.arange(x.shape[0])[:, None] * (self.base ** (-xp.arange(half) / half))[None, :]
        cos, sin = (turn(angle)[:, None, :].astype(xp.float32) for turn in (xp.cos, xp.sin))
        a, b = x[..., 0::2], x[..., 1::2]
        return xp.stack([a * cos - b * sin, a * sin + b * cos], -1).reshape(x.shape)

    def _read(self, ids):
        """What the model makes of the tokens, before it is turned into the next one's."""
        weights, count, each = self.weights, ids.shape[0], self.heads // self.groups
        x = weights['token_embd.weight'][ids]
        future = xp.triu(xp.ones((count, count), bool), 1)
        for layer in range(self.layers):
            w = lambda name: weights[f'blk.{layer}.{name}.weight'].T
            y = self._norm(x, w('attn_norm'))
            q = self._turn((y @ w('attn_q')).reshape(count, self.heads, self.width)).swapaxes(0, 1)
            k = self._turn((y @ w('attn_k')).reshape(count, self.groups, self.width)).swapaxes(0, 1)
            v = (y @ w('attn_v')).reshape(count, self.groups, self.width).swapaxes(0, 1)
            heads = []
            for group in range(self.groups):
                scores = q[group * each : (group + 1) * each] @ k[group].T / math.sqrt(self.width)
                scores = xp.where(future, -1e30, scores)
                scores = xp.exp(scores - scores.max(-1, keepdims=True))
                heads.append(scores / scores.sum(-1, keepdims=True) @ v[group])
            z = xp.concatenate(heads).swapaxes(0, 1).reshape(count, -1)
            x = x + z @ w('attn_output')
            y = self._norm(x, w('ffn_norm'))
            gate = y @ w('ffn_gate')
            x = x + (gate / (1 + xp.exp(-gate)) * (y @ w('ffn_up'))) @ w('ffn_down')
        return self._norm(x, weights['output_norm.weight'])

    def bits(self, context, continuation):
        """The bits of a continuation after a context; a context that is too long loses its beginning."""
        before = context[max(0, len(context) + len(continuation) + 1 - self.length) :]
        ids = [self.start, *before, *continuation]
        padded = np.zeros(-(-len(ids) // STEP) * STEP, np.int32)
        padded[: len(ids)] = ids
        x = np.asarray(self._read(xp.asarray(padded)))[len(before) : len(ids) - 1]
        out = self.weights.get('output.weight', self.weights['token_embd.weight']).T
        bits = 0.0
        for at in range(0, len(continuation), 256):
            logits = np.asarray(xp.asarray(x[at : at + 256]) @ out)
            top = logits.max(-1)
            total = np.log(np.exp(logits - top[:, None]).sum(-1)) + top
            chosen = logits[np.arange(len(logits)), continuation[at : at + 256]]
            bits += float((total - chosen).sum()) / math.log(2)
        return bits


def read_rows(path):
    opened = gzip.open(path, 'rt', errors='replace') if path.suffix == '.gz' else open(path, errors='replace')
    with opened as lines:
        for line in lines:
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if isinstance(row, dict):
                yield row


def tell_continuation(rows, most):
    """What was said and done, a line each, without results."""
    told = ''
    for row in rows:
        message = row.get('message')
        if row.get('isCompactSummary') and told:
            break
        if row.get('isCompactSummary') or row.get('isSidechain') or row.get('isMeta') or not isinstance(message, dict):
            continue
        content = message.get('content')
        for block in [{'type': 'text', 'text': content}] if isinstance(content, str) else content or []:
            if block.get('type') == 'text':
                told += f'{"User" if row.get("type") == "user" else "Assistant"}: {block.get("text", "")}\n'
            elif block.get('type') == 'tool_use':
                told += f'Tool: {block.get("name")} {json.dumps(block.get("input"), ensure_ascii=False)}\n'
        if len(told.encode()) > most:
            break
    return told.encode()[:most].decode(errors='ignore')


def find_transcripts(corpus):
    """By the name that briefs have: the session's id, shortened if it is a UUID."""
    for path in sorted(pathlib.Path(corpus).rglob('*.jsonl*')):
        name = re.sub(r'\.jsonl(\.gz)?$', '', path.name)
        uuid = re.fullmatch(r'([0-9a-f]{8})(-[0-9a-f]{4}){3}-[0-9a-f]{12}', name)
        yield uuid.group(1) if uuid else name, path


HEAD = "Log of a coding agent's session: what the user and the agent said, and the tools that it called.\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--model', required=True, help='a GGUF file')
    parser.add_argument('--corpus', required=True)
    parser.add_argument('--briefs', required=True, help='what npm run eval -- --briefs wrote')
    parser.add_argument('--arm', action='append', help='only these arms')
    parser.add_argument('--cuts', type=int, help='only so many cuts')
    parser.add_argument('--bytes', type=int, default=6000, help='of each continuation (6000)')
    options = parser.parse_args()
    transcripts = dict(find_transcripts(options.corpus))
    briefs = collections.defaultdict(dict)
    for path in sorted(pathlib.Path(options.briefs).glob('*.md')):
        session, cut, arm, budget = re.fullmatch(r'(.+)-(\d+)\.([a-z]+)\.(\d+)\.md', path.name).groups()
        if session in transcripts and (options.arm is None or arm in options.arm):
            briefs[session, int(cut)][arm, int(budget)] = path.read_text()
    cuts = list(briefs)[: options.cuts]
    if not cuts:
        sys.exit(f'{options.briefs} has no brief of a session in {options.corpus}')
    model = Model(options.model)
    saved = collections.defaultdict(list)
    for at, (session, cut) in enumerate(cuts):
        rows = list(read_rows(transcripts[session]))[cut:]
        continuation = model.encode(tell_continuation(rows, options.bytes))
        if not continuation:
            continue
        measure = lambda brief: model.bits(model.encode(f'{HEAD}{brief}\nThe session goes on:\n'), continuation)
        alone = measure('')
        for key, brief in briefs[session, cut].items():
            saved[key].append((alone - measure(f'Known from before:\n{brief}')) / len(continuation))
            others = [briefs[other][key] for other in cuts[at + 1 :] + cuts[:at] if other[0] != session and key in briefs[other]]
            if others:
                other = measure(f'Known from before:\n{others[0]}')
                saved[(*key, 'other')].append((alone - other) / len(continuation))
        print(f'{at + 1} of {len(cuts)} cuts', file=sys.stderr, flush=True)
    print(f'{"":24}{"bits saved by token":>22}{"other":>10}{"cuts":>8}')
    for key in sorted(key for key in saved if len(key) == 2):
        means = [sum(values) / len(values) if values else math.nan for values in (saved[key], saved[(*key, 'other')])]
        print(f'{f"{key[0]} at {key[1]}":24}{means[0]:22.3f}{means[1]:10.3f}{len(saved[key]):8}')


if __name__ == '__main__':
    main()
