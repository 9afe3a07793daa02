/**
 * A model on its own server that scores how well texts answer a question. Optional. Replies wait for it only as long as
 * `rerank_timeout_ms` allows.
 */
export interface Reranker {
  /** One score for each text: the higher, the better it answers the question. */
  rerank(request: RerankRequest): Promise<readonly number[]>;
  /** One vector for each text. Texts with similar meanings have vectors of similar direction. */
  embed(request: EmbedRequest): Promise<readonly (readonly number[])[]>;
}

/** Texts to turn into vectors, which must come back in the same order. */
export interface EmbedRequest {
  /** `provider:model`, as in `rerank_model`. */
  readonly model: string;
  readonly texts: readonly string[];
  /** How long the reply waits for the answer. */
  readonly timeoutMs: number;
  /** Aborts when the reply goes on without the answer. */
  readonly signal: AbortSignal;
}

/** A question, and the texts to score. The scores must come back in the order of the texts. */
export interface RerankRequest extends EmbedRequest {
  readonly question: string;
}
