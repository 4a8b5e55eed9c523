::session
repo: shop
cwd: /home/ada/shop
branch: main
model: claude-sonnet-4-5-20250929
version: 2.0.76
start: 2026-11-16T09:00:00Z

::file package.json
{ "name": "shop", "type": "module", "scripts": { "test": "node --test" } }

::file src/checkout.js
export async function charge(order, gateway) {
  const answer = await gateway.post('/charges', order);
  if (answer.status !== 200) throw new Error(`charge failed: ${answer.status}`);
  return answer.id;
}

::file src/checkout.test.js
import assert from 'node:assert';
import { test } from 'node:test';
import { charge } from './checkout.js';

test('charges an order', async () => {
  const gateway = { post: async () => ({ status: 200, id: 'ch_1' }) };
  assert.equal(await charge({ total: 5 }, gateway), 'ch_1');
});

::user
Checkouts fail when the payment gateway answers 503. Retry them. No new dependencies.

::say
I'll look at the checkout first.

::read src/checkout.js

::edit src/checkout.js
  const answer = await gateway.post('/charges', order);
  if (answer.status !== 200) throw new Error(`charge failed: ${answer.status}`);
  return answer.id;
::to
  for (let attempt = 1; ; attempt++) {
    const answer = await gateway.post('/charges', order);
    if (answer.status === 200) return answer.id;
    if (answer.status < 500 || attempt === 5) throw new Error(`charge failed: ${answer.status}`);
  }

::bash npm test ## Run the tests
ok 1 - charges an order
# pass 1
# fail 0

::say
`charge` now tries up to 5 times on any 5xx. All tests pass.

::user
Never retry a 500 in src/checkout.js: last year that charged customers twice. Only 502 and 503.

::edit src/checkout.js
    if (answer.status < 500 || attempt === 5) throw new Error(`charge failed: ${answer.status}`);
::to
    if (![502, 503].includes(answer.status) || attempt === 5) throw new Error(`charge failed: ${answer.status}`);

::bash npm test ## Run the tests
ok 1 - charges an order
# pass 1
# fail 0

::say
Only 502 and 503 are retried now, 5 times at most; a 500 fails at once, so nobody is charged twice. Still missing: a limit on how long all attempts may take.

::user
Good. Now that limit: 2 seconds in all. Write the test first.

::todo
[x] Retry on 502 and 503 only
[>] Test that charge gives up after 2 seconds
[ ] Pass an AbortSignal.timeout(2000) to gateway.post

::write src/timeout.test.js
import assert from 'node:assert';
import { test } from 'node:test';
import { charge } from './checkout.js';

test('gives up after 2 seconds', async () => {
  const slow = { post: () => new Promise((done) => setTimeout(done, 900, { status: 503 })) };
  const started = performance.now();
  await assert.rejects(charge({ total: 5 }, slow));
  assert.ok(performance.now() - started < 2100);
});

::bash!1 node --test src/timeout.test.js ## Run the new test
not ok 1 - gives up after 2 seconds
  failureType: 'testCodeFailure'
  error: 'The expression evaluated to a falsy value: performance.now() - started < 2100'
# pass 0
# fail 1
