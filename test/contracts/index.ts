/** What every adapter owes its port, as suites for vitest: call one in a test file of your own with a way to create your adapter. */

export { type ChannelContractOptions, type ChannelUnderTest, channelContract } from './channel.ts';
export { type EngineOptions, engineContract } from './engine.ts';
export { type ModelContractOptions, type ModelUnderTest, modelContract } from './model.ts';
export { provenanceContract } from './provenance.ts';
export { type QueueContractOptions, type QueueUnderTest, queueContract } from './queue.ts';
export { searchContract } from './search.ts';
export { type StorageUnderTest, type StoreContractOptions, storeContract } from './store.ts';
