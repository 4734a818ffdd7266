// Runs the public suite http-tests/cache-tests through `signet send --cache`: its own runner and server, and a
// `fetch` that sends each request by the tool.
//
//     node cache-tests.mjs SUITE SIGNET FOLDER PORT [ID]
//
// SUITE is a checkout of the suite, which is not part of this project; SIGNET is the tool; FOLDER is the cache's.
// Prints {"id": true | [kind, message]} for each case.
import { spawn } from 'node:child_process'
import { pathToFileURL } from 'node:url'

const [suite, signet, folder, port, only] = process.argv.slice(2)
const base = `http://127.0.0.1:${port}`
const module = path => import(pathToFileURL(`${suite}/${path}`))

process.env.npm_config_protocol = 'http'
process.env.npm_config_port = port
process.env.npm_config_pidfile = `${folder}.pid`
const say = console.log
console.log = () => {}
await module('test-engine/server/server.mjs')

// The requests that run at once: more would only wait for processors.
let free = 4
const waiting = []
const enter = () => free > 0 ? (free--, Promise.resolve()) : new Promise(resolve => waiting.push(resolve))
const leave = () => { const next = waiting.shift(); if (next) next(); else free++ }

const direct = globalThis.fetch
globalThis.fetch = async (url, init = {}) => {
  if (!new URL(url).pathname.startsWith('/test/')) return direct(url, init)
  await enter()
  try { return await send(url, init) } finally { leave() }
}

async function send (url, init) {
  const target = new URL(url)
  const body = init.body ?? ''
  const lines = [`${init.method ?? 'GET'} ${target.pathname}${target.search} HTTP/1.1`, `Host: ${target.host}`]
  for (const [name, value] of init.headers ?? []) {
    // What the runner adds so that `fetch` of Node sets no fields of its own.
    if ((name === 'Pragma' && value === 'foo') || value === 'nothing-to-see-here') continue
    lines.push(`${name}: ${value}`)
  }
  // The fields that browsers send for these modes of `fetch`.
  if (init.cache === 'no-cache') lines.push('Cache-Control: max-age=0')
  if (init.cache === 'reload') lines.push('Cache-Control: no-cache')
  const message = `${lines.join('\r\n')}\r\n\r\n${body}`
  const args = ['send', '--json', '--plain-http', '--max-redirects', '0', '--timeout', '9', '--cache', folder]
  const output = await run(args, message, init.signal)
  let found = JSON.parse(output)
  if (found.error && found.status === undefined) {
    // The suite wants 504 where a cache can't reach the origin.
    found = { status: 504, fields: [], body: '', ...(found.error.response ?? {}) }
  }
  const headers = new Headers()
  for (const [name, value] of found.fields ?? []) headers.append(name, value)
  const text = found.bodyBase64 ? Buffer.from(found.bodyBase64, 'base64').toString() : found.body ?? ''
  return { status: found.status, headers, text: async () => text, url }
}

function run (args, input, signal) {
  return new Promise((resolve, reject) => {
    const child = spawn(signet, args, { signal, stdio: ['pipe', 'pipe', 'ignore'] })
    let output = ''
    child.stdout.on('data', chunk => { output += chunk })
    child.on('error', reject)
    child.on('close', () => resolve(output))
    child.stdin.on('error', () => {})
    child.stdin.end(input)
  })
}

const { runTests, getResults } = await module('test-engine/client/runner.mjs')
const { default: tests } = await module('tests/index.mjs')
const chosen = tests.map(group => ({
  ...group,
  // The cases that the suite asks only browsers bind a private cache too.
  tests: group.tests.filter(test => only === undefined || test.id === only)
    .map(test => ({ ...test, browser_only: false }))
}))
await runTests(chosen, false, base, 8)
say(JSON.stringify(getResults()))
process.exit(0)
