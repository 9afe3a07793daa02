/**
 * What every port requires of its adapters, as suites for vitest: call one in your own test file with a function that
 * creates your adapter.
 */

export { type ChannelContractOptions, type ChannelUnderTest, channelContract } from './channel.ts';
export { type EngineOptions, engineContract } from './engine.ts';
export { type ModelContractOptions, type ModelUnderTest, modelContract } from './model.ts';
export { provenanceContract } from './provenance.ts';
export { type QueueContractOptions, type QueueUnderTest, queueContract } from './queue.ts';
export { searchContract } from './search.ts';
export { type StorageUnderTest, type StoreContractOptions, storeContract } from './store.ts';
