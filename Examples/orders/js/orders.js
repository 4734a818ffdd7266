// The orders host: JSON-RPC 2.0 at /rpc, REST at /orders; everything only for signed requests, and
// receipts only with a session's token beside the signature.

import fs from 'fs';
import signature from 'signature.js';

const KEPT = 100;
const USES = 2;  // of a session's token
const FILE = `${ngx.conf_prefix}orders.json`;
const INVALID_PARAMS = {code: -32602, message: 'Invalid params'};

// The orders taken so far and the sessions: {next, orders, sessions}. One worker process, and no pause
// between reading and writing, so that two requests never meet here.
function load() {
    const state = {next: 1, orders: [], sessions: []};
    try {
        return Object.assign(state, JSON.parse(fs.readFileSync(FILE)));
    } catch (error) {
        return state;
    }
}

function save(state) {
    fs.writeFileSync(FILE, JSON.stringify(state));
}

function isOrder(order) {
    return order !== null && typeof order === 'object' && typeof order.item === 'string'
        && order.item.length > 0 && order.item.length <= 100 && Number.isInteger(order.quantity)
        && order.quantity > 0 && order.quantity <= 1000;
}

function create(wanted) {
    const state = load();
    const order = {
        id: state.next, item: wanted.item, quantity: wanted.quantity, status: 'created',
    };
    state.next += 1;
    state.orders = state.orders.concat([order]).slice(-KEPT);
    save(state);
    return order;
}

// Begins a session: a token that is good for a few requests. $request_id is 16 random bytes in hex.
function renew(request) {
    const state = load();
    const session = {token: request.variables.request_id, left: USES};
    state.sessions = state.sessions.concat([session]).slice(-KEPT);
    save(state);
    return {token: session.token, uses: session.left};
}

// Takes one use of the token that a request carries; false if the token has none left, or is not ours.
function spend(request) {
    const state = load();
    const field = Buffer.from(request.headersIn.Authorization || '');
    const session = state.sessions.filter(one => one.left > 0
        && signature.equalInConstantTime(Buffer.from(`Bearer ${one.token}`), field))[0];
    if (session === undefined) {
        return false;
    }
    session.left -= 1;
    save(state);
    return true;
}

function respond(request, status, value) {
    request.headersOut['Content-Type'] = 'application/json';
    request.return(status, `${JSON.stringify(value)}\n`);
}

function problem(request, status, code, message) {
    respond(request, status, {error: {code: code, message: message}});
}

// A method's {result} or {error}. Parameters are taken by name or by position.
function perform(method, params, request) {
    const hasNone = params === undefined
        || (params !== null && typeof params === 'object' && Object.keys(params).length === 0);
    switch (method) {
    case 'orders.create': {
        const wanted = Array.isArray(params)
            ? {item: params[0], quantity: params[1]} : params || null;
        const isRight = isOrder(wanted) && (!Array.isArray(params) || params.length === 2);
        return isRight ? {result: create(wanted)} : {error: INVALID_PARAMS};
    }
    case 'orders.list':
        return hasNone ? {result: load().orders} : {error: INVALID_PARAMS};
    case 'session.renew':
        return hasNone ? {result: renew(request)} : {error: INVALID_PARAMS};
    default:
        return {error: {code: -32601, message: 'Method not found'}};
    }
}

// The response to one call, or undefined for a notification.
function response(call, request) {
    const isObject = call !== null && typeof call === 'object' && !Array.isArray(call);
    const hasParams = isObject && call.params !== undefined;
    const id = isObject && (typeof call.id === 'string' || typeof call.id === 'number')
        ? call.id : null;
    if (!isObject || call.jsonrpc !== '2.0' || typeof call.method !== 'string'
        || (hasParams && (call.params === null || typeof call.params !== 'object'))
        || (call.id !== undefined && call.id !== null && id === null)) {
        return {jsonrpc: '2.0', id: id, error: {code: -32600, message: 'Invalid Request'}};
    }
    const outcome = perform(call.method, call.params, request);
    if (call.id === undefined) {
        return undefined;
    }
    return outcome.error === undefined
        ? {jsonrpc: '2.0', id: id, result: outcome.result}
        : {jsonrpc: '2.0', id: id, error: outcome.error};
}

// JSON from the body's bytes, or undefined; text that is not UTF-8 is no JSON.
function parse(body) {
    try {
        return JSON.parse(new TextDecoder('utf-8', {fatal: true}).decode(body));
    } catch (error) {
        return undefined;
    }
}

function rpc(request, body) {
    const call = parse(body);
    if (call === undefined) {
        const error = {code: -32700, message: 'Parse error'};
        respond(request, 200, {jsonrpc: '2.0', id: null, error: error});
        return;
    }
    const isBatch = Array.isArray(call) && call.length > 0;
    const responses = (isBatch ? call : [call]).map(one => response(one, request))
        .filter(one => one !== undefined);
    if (responses.length === 0) {
        request.return(204);
    } else {
        respond(request, 200, isBatch ? responses : responses[0]);
    }
}

function rest(request, path, body) {
    if (path !== '/orders') {
        const parts = path.split('/');  // '', 'orders', ID, perhaps 'receipt'
        const isReceipt = parts.length === 4;
        if (isReceipt && !spend(request)) {
            request.variables.reason = 'no-session';
            request.headersOut['WWW-Authenticate'] = 'Bearer realm="orders"';
            problem(request, 401, 'no-session', 'A receipt needs a token of session.renew.');
            return;
        }
        const order = load().orders.filter(order => order.id === Number(parts[2]))[0];
        if (order === undefined) {
            problem(request, 404, 'no-such-order', 'There is no such order.');
        } else if (isReceipt) {
            respond(request, 200, {order: order.id, text: `${order.quantity} x ${order.item}`});
        } else {
            request.headersOut['Cache-Control'] = 'private, max-age=60';  // an order never changes
            respond(request, 200, order);
        }
    } else if (request.method === 'GET') {
        respond(request, 200, load().orders);
    } else {
        const wanted = parse(body);
        if (wanted === undefined || !isOrder(wanted)) {
            problem(request, 400, 'bad-order', 'An order has an item and a quantity, 1 to 1000.');
            return;
        }
        const order = create(wanted);
        request.headersOut.Location = `/orders/${order.id}`;
        respond(request, 201, order);
    }
}

function methodsOf(path) {
    if (path === '/rpc') {
        return ['POST'];
    }
    if (path === '/orders') {
        return ['GET', 'POST'];
    }
    return /^\/orders\/[1-9][0-9]{0,14}(\/receipt)?$/.test(path) ? ['GET'] : [];
}

// Every request ends here: verified first, then served by the path that was signed.
function handle(request) {
    const body = request.requestBuffer || Buffer.from('');
    const now = Math.floor(Date.now() / 1000);
    const verdict = signature.verify(request, trusted.keys, body, now);
    if (verdict.keyID === undefined) {
        request.variables.verdict = 'refused';
        request.variables.reason = verdict.reason;
        request.headersOut['WWW-Authenticate'] = 'Signature realm="orders"';
        problem(request, 401, 'signature-refused', 'The request has no signature that holds.');
        return;
    }
    request.variables.verdict = 'verified';
    request.variables.keyid = verdict.keyID;
    const path = request.variables.request_uri.split('?')[0];
    const methods = methodsOf(path);
    if (methods.length === 0) {
        problem(request, 404, 'no-such-path', 'There is nothing here.');
    } else if (methods.indexOf(request.method) < 0) {
        request.headersOut.Allow = methods.join(', ');
        problem(request, 405, 'method-not-allowed', `Only ${methods.join(' and ')}.`);
    } else if (path === '/rpc') {
        rpc(request, body);
    } else {
        rest(request, path, body);
    }
}

export default {handle};
