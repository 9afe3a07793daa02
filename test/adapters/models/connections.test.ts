import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { STATUS_CODES } from 'node:http';
import { createServer } from 'node:https';
import { APICallError } from 'ai';
import { describe, expect, test } from 'vitest';
import { classify } from '../../../adapters/models/ai-sdk/failures/classify.ts';
import { createAiSdkModels } from '../../../adapters/models/ai-sdk/index.ts';
import { ask, collect, silentLog } from '../../fixtures/models-requests.ts';
import { CERTIFICATE_FILE } from '../../support/proxy.ts';

/** As the SDK throws it, with the reason that `fetch` has. */
function unconnected(cause: Error): APICallError {
  const about = { url: 'https://example.org/v1/responses', requestBodyValues: {}, isRetryable: true };
  return new APICallError({ ...about, message: `Cannot connect to API: ${cause.message}`, cause });
}

const cancelled = (cause: Error) => Object.assign(new DOMException('Request was cancelled.', 'AbortError'), { cause });
const proxyRefusal = (status: number) =>
  Object.assign(new Error(`Proxy response (${status}) !== 200 when HTTP Tunneling`), { name: 'AbortError' });

describe('a server that cannot be reached', () => {
  test('names every address that was tried', () => {
    const refused = ['::1', '127.0.0.1'].map((host) => new Error(`connect ECONNREFUSED ${host}:8000`));
    const detail = 'Cannot connect to API: connect ECONNREFUSED ::1:8000, connect ECONNREFUSED 127.0.0.1:8000';
    expect(classify(unconnected(new AggregateError(refused)), 0)).toMatchObject({ reason: 'transient', detail });
  });

  test.each([
    [407, /^Add a user and a password to HTTPS_PROXY/u],
    [403, /^Allow the host in the proxy/u],
  ])('is away if a proxy answers %i', (status, remedy) => {
    const told = classify(unconnected(cancelled(proxyRefusal(status))), 0);
    const detail = expect.stringMatching(`^Cannot connect to API: Proxy response \\(${status}\\)`);
    expect(told).toMatchObject({ reason: 'transient', detail, remedy: expect.stringMatching(remedy) });
  });

  test('was not away if the request was stopped', () => {
    expect(classify(new DOMException('Request was cancelled.', 'AbortError'), 0).reason).toBe('aborted');
  });

  test.each([
    ['certificate has expired', /^Renew the certificate/u],
    ['certificate is not yet valid', /^Set the clock/u],
    ["Hostname/IP does not match certificate's altnames: Host: a. is not in the cert's altnames: DNS:b", /host name/u],
    ['unable to verify the first certificate', /^Set NODE_EXTRA_CA_CERTS/u],
    ['unable to get local issuer certificate', /^Set NODE_EXTRA_CA_CERTS/u],
    ['40:error:0A00010B:SSL routines:tls_validate_record_header:wrong version number:a.c:77:', /scheme/u],
    [
      'Failed to establish tunnel to a.example.org:443 via http://127.0.0.1:3128/: HTTP/1.1 403 Forbidden',
      /^Allow the host/u,
    ],
    ['bad port', /^Let the server listen on another port/u],
    ['getaddrinfo EAI_AGAIN models.example.org', /name server/u],
  ])('says what to do about: %s', (message, remedy) => {
    expect(classify(unconnected(new Error(message)), 0).remedy).toMatch(remedy);
  });

  test.each([
    [
      403,
      '<html><title>Access Denied</title>Category: AI</html>',
      'transient',
      'Forbidden: a web page "Access Denied"',
    ],
    [403, '{"error":{"message":"No access to `m`","code":"model_not_found"}}', 'missing', 'No access to `m`'],
    [401, '<html><title>Sign in</title></html>', 'auth', 'Unauthorized: a web page "Sign in"'],
    [
      400,
      '<title>400 The plain HTTP request was sent to HTTPS port</title>',
      'fatal',
      /^Bad Request: a web page "400 The/u,
    ],
  ])('answers %i with %s', (statusCode, responseBody, reason, detail) => {
    const message = STATUS_CODES[statusCode] ?? '';
    const told = JSON.parse(responseBody.startsWith('{') ? responseBody : 'null')?.error;
    const about = { url: 'https://example.org', requestBodyValues: {}, statusCode, responseBody, data: told };
    const found = classify(new APICallError({ ...about, message: told?.message ?? message }), 0);
    expect(found).toMatchObject({ reason, detail: expect.stringMatching(detail) });
  });

  test('is reached if it quotes words about networks', () => {
    const about = { url: 'https://example.org', requestBodyValues: {}, statusCode: 400 };
    const refusal = new APICallError({ ...about, message: 'invalid tool name: "dig a tunnel to China"' });
    expect(classify(refusal, 0)).toMatchObject({ reason: 'fatal', remedy: null });
  });

  test('is another one after a redirect', () => {
    const told = classify(new Error('the server redirects to login.example.org'), 0);
    expect(told).toMatchObject({ reason: 'transient', remedy: expect.stringMatching(/^Correct the address/u) });
  });

  test('may not serve the country of the bot', () => {
    const about = { url: 'https://example.org', requestBodyValues: {}, statusCode: 403 };
    const refusal = new APICallError({ ...about, message: 'Country, region, or territory not supported' });
    expect(classify(refusal, 0)).toMatchObject({ reason: 'auth', remedy: expect.stringMatching(/^Run the bot/u) });
  });

  test('has a certificate that nobody vouches for', async () => {
    const pem = readFileSync(CERTIFICATE_FILE);
    const server = createServer({ key: pem, cert: pem }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const providers = { own: { baseUrl: `https://127.0.0.1:${port}/v1` } };
    const models = createAiSdkModels({ environment: {}, providers, builtIn: {}, log: silentLog });
    const failure = await collect(await models.open('own:m'), ask('hello')).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      message: expect.stringMatching(/self-signed certificate.*\. Set NODE_EXTRA_CA_CERTS .* trusts it\.$/u),
    });
    server.close();
  });
});
