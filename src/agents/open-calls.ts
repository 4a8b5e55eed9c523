/** Takes a call whose result has come out of those that wait for one; undefined for a call that is not known. */
export function takeCall<Call>(open: Map<string, Call>, id: string): Call | undefined {
  const call = open.get(id);
  open.delete(id);
  return call;
}
