// Plays the conformance cases against an empty database, in plain SQL over the package `pg`:
//
//   npm install pg && node run_cases.mjs postgresql://… ../../contract/cases
//
// The format is told in the folder of the cases. The answer is one line of JSON, {passed, failed}.
import { randomUUID } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { isDeepStrictEqual } from "node:util";

const pg = createRequire(`${process.cwd()}/`)("pg"); // From where it is run, not from here.
const [url, folder] = process.argv.slice(2);
const { TIMESTAMPTZ, INT8 } = pg.types.builtins;
pg.types.setTypeParser(TIMESTAMPTZ, String);
pg.types.setTypeParser(INT8, Number);

const files = readdirSync(folder).filter((name) => name.endsWith(".json")).sort();
const read = (name) => JSON.parse(readFileSync(`${folder}/${name}`));
const stage = read("stage.json");
const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

function merged(under, over) {
  if (!isObject(under) || !isObject(over)) return over;
  const laid = Object.entries(over).map(([name, value]) => [name, merged(under[name], value)]);
  return { ...under, ...Object.fromEntries(laid) };
}

const clash = (left, right) => !isObject(left) || !isObject(right) ? !isDeepStrictEqual(left, right)
  : Object.keys(left).some((name) => name in right && clash(left[name], right[name]));

// A table of rules, written out as cases: for each rule, itself broken with each later one.
function* expanded(table) {
  const done = new Set(table.apart.map((pair) => pair.rules.join()));
  for (const scene of table.scenes) {
    const { broken } = scene;
    const ordered = table.rules.filter((rule) => rule in broken);
    for (const [place, first] of ordered.entries()) {
      const isAlways = isDeepStrictEqual(broken[first], {});
      const pairs = ordered.slice(isAlways ? place : place + 1).map((second) => [first, second])
        .filter((pair) => !done.has(pair.join()) && !clash(broken[first], broken[pair[1]]));
      for (const pair of pairs) done.add(pair.join());
      if (pairs.length) yield brokenCase(table, scene, pairs);
      if (isAlways) break; // What comes after it never answers.
    }
  }
}

function brokenCase(table, scene, pairs) {
  const first = pairs[0][0];
  const calls = pairs.flatMap((breaks) => {
    const given = merged(scene.with, merged(...breaks.map((rule) => scene.broken[rule])));
    const step = { breaks, with: given, expect: table.answers[first] };
    const plan = table.plan ? [{ ...step, call: table.plan, writes: "nothing" }] : [];
    const writes = table.accepts.includes(first) ? undefined : "nothing";
    return [...plan, { ...step, call: table.call, writes }];
  });
  return { ...scene, name: `${table.name}/${scene.name}/${first}`, calls };
}

function matches(expected, found) {
  if (expected === "any") return found !== null;
  if (isObject(expected) && isObject(found))
    return Object.entries(expected).every(([name, value]) => name in found && matches(value, found[name]));
  if (Array.isArray(expected) && Array.isArray(found))
    return expected.length === found.length && expected.every((each, at) => matches(each, found[at]));
  return isDeepStrictEqual(expected, found);
}

let names = {};
function named(value) {
  if (Array.isArray(value)) return value.map(named);
  if (isObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, named(each)]));
  if (typeof value !== "string") return value;
  if (/^\$\w+$/.test(value)) return names[value.slice(1)];
  return value.replace(/\$\{(\w+)\}/g, (_, name) => names[name]);
}

const clients = [0, 1].map(() => new pg.Client({ connectionString: url }));
await Promise.all(clients.map((client) => client.connect()));
const rows = async (text, values) => (await clients[0].query(text, values)).rows;
const parameters = await rows(`
  select p.proname, n.name, format_type(t.oid, null) as type
    from pg_proc p, unnest(p.proargnames[:p.pronargs], p.proargtypes::oid[]) n(name, type)
    join pg_type t on t.oid = n.type
   where p.pronamespace = 'lockgate'::regnamespace`);
const types = Object.fromEntries(parameters.map((p) => [`${p.proname}.${p.name}`, p.type]));
const tables = (await rows(`
  select c.oid::regclass::text as name from pg_class c where c.relkind = 'r' and (
    c.relnamespace = 'lockgate_store'::regnamespace and c.relname !~ 'migrations'
    or c.oid in ('dbos.workflow_status'::regclass, 'dbos.workflow_input'::regclass))`))
  .map((table) => table.name);
const [{ isUsed }] = await rows(
  `select ${tables.map((name) => `exists (select from ${name})`).join(" or ")} as "isUsed"`);
if (isUsed) throw new Error("the cases empty a database each time: give them one of their own");
const empty = () => clients[0].query(tables.map((name) => `delete from ${name}`).join(";"));
const dump = () => rows(tables.map((name) =>
  `select '${name}' as name, t.ctid || ' ' || t::text as row from ${name} t`)
  .join(" union all ") + " order by 1, 2");

async function answer(step, client) {
  let given = named(step.with ?? {});
  if (step.prepare) {
    const asked = [];
    const text = stage.preparations[step.prepare].sql.replace(/(?<!:):(\w+)/g, (_, name) =>
      `$${asked.push(given[name])}`);
    return (await client.query(text, asked)).rows;
  }
  given = merged(stage.usual[step.call] ?? {}, given);
  const asked = Object.entries(given).map(([name, value]) => {
    const type = types[`${step.call}.p_${name}`];
    if (value === null || !type.startsWith("jsonb")) return { name, type, value };
    const isList = type === "jsonb[]";
    return { name, type, value: isList ? value.map((v) => JSON.stringify(v)) : JSON.stringify(value) };
  });
  const list = asked.map(({ name, type }, at) => `p_${name} => $${at + 1}::${type}`).join(", ");
  const text = `select * from lockgate.${step.call}(${list})`;
  return (await client.query(text, asked.map(({ value }) => value))).rows;
}

function hold(step, found) {
  const expected = named(step.expect ?? {});
  const wanted = Array.isArray(expected) ? expected : [expected];
  if (step.expect ? !matches(wanted, found) : found.some((row) => row.raises))
    throw new Error(`${JSON.stringify({ step, expected, found })}`);
  for (const [name, path] of Object.entries(step.save ?? {}))
    names[name] = path.split(".").reduce((part, at) => part[at], found[0]);
}

async function play(step) {
  if (step.scene) {
    names = { ...names, ...named(step.with ?? {}) };
    for (const each of stage.scenes[step.scene]) await play(each);
  } else if (step.together) {
    const left = await Promise.all(step.together.map((call, at) => answer(call, clients[at])));
    for (const each of step.answers) {
      const at = left.findIndex((found) => matches(named(each.expect), found[0]));
      if (at < 0) throw new Error(`no such answer: ${JSON.stringify({ each, left })}`);
      hold(each, left.splice(at, 1)[0]);
    }
  } else {
    const before = step.writes && (await dump());
    hold(step, await answer(step, clients[0]).catch((error) => [{ raises: error.code }]));
    if (step.writes && !isDeepStrictEqual(await dump(), before))
      throw new Error(`it wrote: ${JSON.stringify(step)}`);
  }
}

const failed = [];
let passed = 0;
const cases = files.map(read).flatMap((file) => file.cases ?? (file.rules ? [...expanded(file)] : []));
for (const each of cases) {
  await empty();
  names = Object.fromEntries((each.ids ?? []).map((name) => [name, randomUUID()]));
  try {
    for (const step of [...(each.given ?? []), ...each.calls, ...(each.after ?? [])]) await play(step);
    passed += 1;
  } catch (error) {
    failed.push({ name: each.name, why: error.message });
  }
}
await empty();
await Promise.all(clients.map((client) => client.end()));
console.log(JSON.stringify({ passed, failed }));
