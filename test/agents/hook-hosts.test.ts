import { HOOK_HOSTS } from '../../src/agents/hook-hosts.ts';
import { describeHookHost } from '../support/conformance/hook-hosts.ts';

for (const host of HOOK_HOSTS) describeHookHost(host);
