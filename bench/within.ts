/** Null when it takes longer. */
export async function within(promise: Promise<number>, limitMs: number): Promise<number | null> {
  const late = Promise.withResolvers<null>();
  const timer = setTimeout(late.resolve, limitMs, null);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
