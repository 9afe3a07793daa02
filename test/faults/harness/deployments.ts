/** The four steps of docs/scaling.md. */
export interface Deployment {
  readonly number: 1 | 2 | 3 | 4;
  readonly name: string;
  readonly store: 'sqlite' | 'postgres';
  readonly queue: 'local' | 'redis' | 'postgres';
}

export const DEPLOYMENTS: readonly Deployment[] = [
  { number: 1, name: 'SQLite, local queue, one process', store: 'sqlite', queue: 'local' },
  { number: 2, name: 'SQLite shared, Redis', store: 'sqlite', queue: 'redis' },
  { number: 3, name: 'Postgres, BullMQ on Postgres', store: 'postgres', queue: 'postgres' },
  { number: 4, name: 'Postgres, Redis', store: 'postgres', queue: 'redis' },
];
