// Takes the lock, says so, and keeps it until it is killed.
const [bundle, folder, name] = process.argv.slice(2);
const { acquireLock } = await import(bundle);

acquireLock({ folder, name, waitMs: 10_000, clock: Date });
process.stdout.write('held\n');
setInterval(() => process.uptime(), 60_000);
