// Preloaded with --import: makes the file system answer like one that has no hard links.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

fs.linkSync = () => {
  throw Object.assign(new Error('EPERM: operation not permitted, link'), { code: 'EPERM', syscall: 'link' });
};
syncBuiltinESMExports();
