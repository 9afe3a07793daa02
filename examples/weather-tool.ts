// A tool that calls a remote API. Name the file in `plugins` of config.toml, then start the bot: npx strata start
//   plugins = ["./weather-tool.ts"]
//   [defaults]
//   tools = ["weather", "memory_save", "memory_recall"]
import { definePlugin, defineTool } from 'stratabot';
import { z } from 'zod';

const places = z.object({
  results: z.array(z.object({ name: z.string(), latitude: z.number(), longitude: z.number() })),
});
const forecast = z.object({ current: z.object({ temperature_2m: z.number(), wind_speed_10m: z.number() }) });

const TIMEOUT_MS = 10_000;

export default definePlugin({
  name: 'weather',
  settings: z.strictObject({
    geocoding_url: z.url().default('https://geocoding-api.open-meteo.com/v1/search'),
    forecast_url: z.url().default('https://api.open-meteo.com/v1/forecast'),
  }),
  tools: ({ geocoding_url, forecast_url }) => [
    defineTool({
      name: 'weather',
      description: 'Returns the current weather in a city.',
      input: z.object({ city: z.string().min(1).describe('Name of the city') }),
      async run({ city }, { signal }) {
        const found = await get(geocoding_url, { name: city, count: '1' }, signal);
        const [place] = places.parse({ results: [], ...Object(found) }).results;
        if (place === undefined) return `There is no city named ${city}.`;
        const { name, latitude, longitude } = place;
        const position = { latitude: String(latitude), longitude: String(longitude) };
        const weather = await get(forecast_url, { ...position, current: 'temperature_2m,wind_speed_10m' }, signal);
        const { temperature_2m, wind_speed_10m } = forecast.parse(weather).current;
        return `${name}: ${temperature_2m} °C, wind ${wind_speed_10m} km/h`;
      },
    }),
  ],
});

/** An error becomes an error result, which the model can explain. */
async function get(address: string, query: Record<string, string>, signal: AbortSignal): Promise<unknown> {
  const response = await fetch(`${address}?${new URLSearchParams(query)}`, {
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
  });
  if (!response.ok) throw new Error(`The weather service answered ${response.status}`);
  return await response.json();
}
