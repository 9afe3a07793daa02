import { z } from 'zod';

/** A setting that allows and denies ids. Empty by default, which allows all. */
export function accessList(id: z.ZodString) {
  const ids = z.array(id).default([]);
  const list = z.strictObject({
    allow: ids.describe('Only these; empty means all'),
    deny: ids.describe('Never these, even if they are allowed'),
  });
  return list.prefault({});
}

type AccessList = z.infer<ReturnType<typeof accessList>>;

/** Whether one of the ids is allowed and none is denied. */
export function passes({ allow, deny }: AccessList, ...ids: readonly string[]): boolean {
  if (ids.some((id) => deny.includes(id))) return false;
  return allow.length === 0 || ids.some((id) => allow.includes(id));
}
