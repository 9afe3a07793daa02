import { parseSync } from 'oxc-parser';
import { z } from 'zod';

/** An exported function that takes text, with its parameters' types as written. */
export interface TextFunction {
  readonly path: string;
  readonly name: string;
  readonly parameters: readonly Parameter[];
}

export interface Parameter {
  readonly name: string;
  readonly type: string;
}

const parameterSchema = z.looseObject({ type: z.string(), start: z.number(), end: z.number() });
const functionSchema = z.looseObject({
  type: z.enum(['FunctionDeclaration', 'ArrowFunctionExpression', 'FunctionExpression']),
  async: z.boolean(),
  generator: z.boolean(),
  params: z.array(parameterSchema),
});
const exportSchema = z.looseObject({ type: z.literal('ExportNamedDeclaration'), declaration: z.unknown() });
const identifier = z.looseObject({ name: z.string() });
const classDeclaration = z.looseObject({ type: z.literal('ClassDeclaration'), id: identifier });
const namedFunction = functionSchema.extend({ id: identifier });
const constants = z.looseObject({
  type: z.literal('VariableDeclaration'),
  declarations: z.array(z.looseObject({ id: identifier, init: z.unknown() })),
});

/** The synchronous exported functions of a file with a `string` parameter. */
export function textFunctionsIn(path: string, source: string): readonly TextFunction[] {
  return ofText(path, source, ({ async: isAsync, generator }) => !isAsync && !generator);
}

/** The asynchronous ones. */
export function asyncTextFunctionsIn(path: string, source: string): readonly TextFunction[] {
  return ofText(path, source, ({ async: isAsync, generator }) => isAsync || generator);
}

/** The exported classes of a file. */
export function classesIn(path: string, source: string): readonly string[] {
  return parseSync(path, source).program.body.flatMap((statement) => {
    const made = classDeclaration.safeParse(exportSchema.safeParse(statement).data?.declaration).data;
    return made === undefined ? [] : [`${path}#${made.id.name}`];
  });
}

type FunctionMade = z.infer<typeof functionSchema>;

function ofText(path: string, source: string, isMeant: (made: FunctionMade) => boolean): readonly TextFunction[] {
  const functions = parseSync(path, source).program.body.flatMap((statement) => {
    const declaration = exportSchema.safeParse(statement).data?.declaration;
    const named = namedFunction.safeParse(declaration).data;
    if (named !== undefined) return [{ name: named.id.name, made: named }];
    return (constants.safeParse(declaration).data?.declarations ?? []).flatMap(({ id, init }) => {
      const made = functionSchema.safeParse(init).data;
      return made === undefined ? [] : [{ name: id.name, made }];
    });
  });
  return functions
    .filter(({ made }) => isMeant(made))
    .map(({ name, made }) => ({
      path,
      name,
      parameters: made.params.map(({ start, end }) => parameterOf(source.slice(start, end))),
    }))
    .filter(({ parameters }) => parameters.some(({ type }) => /\bstring\b/u.test(type)));
}

/** `text: string` → text, string; `limit = 5` → limit, number. */
function parameterOf(written: string): Parameter {
  const line = written.replace(/\s+/gu, ' ');
  const colon = line.startsWith('{') ? line.lastIndexOf('}:') + 1 : line.indexOf(':');
  if (colon > 0)
    return {
      name: line.slice(0, colon).trim(),
      type:
        line
          .slice(colon + 1)
          .split(' = ')[0]
          ?.trim() ?? '',
    };
  if (/= ?'.*'$/u.test(line)) return { name: line.split('=')[0]?.trim() ?? '', type: 'string' };
  return { name: line.split('=')[0]?.trim() ?? '', type: /= ?[\d.]+$|= ?[A-Z_]+$/u.test(line) ? 'number' : 'unknown' };
}
