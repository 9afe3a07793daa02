/** Lets nothing run in this process for a while, as if it had been stopped. */
export function stopFor(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
