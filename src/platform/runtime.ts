/** The major version of the Node that runs this. */
export function readRuntimeVersion(): number {
  return Number(process.versions.node.split('.')[0]);
}
