// The orders host: JSON-RPC 2.0 at /rpc, REST at /orders; everything only for signed requests.

import fs from 'fs';
import signature from 'signature.js';

const KEPT = 100;
const FILE = `${ngx.conf_prefix}orders.json`;
const INVALID_PARAMS = {code: -32602, message: 'Invalid params'};

// The orders taken so far: {next, orders}. One worker process, and no pause between reading and
// writing, so that two requests never meet here.
function load() {
    try {
        return JSON.parse(fs.readFileSync(FILE));
    } catch (error) {
        return {next: 1, orders: []};
    }
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
    const orders = state.orders.concat([order]).slice(-KEPT);
    fs.writeFileSync(FILE, JSON.stringify({next: order.id + 1, orders: orders}));
    return order;
}

function answer(request, status, value) {
    request.headersOut['Content-Type'] = 'application/json';
    request.return(status, `${JSON.stringify(value)}\n`);
}

function problem(request, status, code, message) {
    answer(request, status, {error: {code: code, message: message}});
}

// A method's {result} or {error}. Parameters are taken by name or by position.
function perform(method, params) {
    switch (method) {
    case 'orders.create': {
        const wanted = Array.isArray(params)
            ? {item: params[0], quantity: params[1]} : params || null;
        const isRight = isOrder(wanted) && (!Array.isArray(params) || params.length === 2);
        return isRight ? {result: create(wanted)} : {error: INVALID_PARAMS};
    }
    case 'orders.list': {
        const isRight = params === undefined
            || (params !== null && typeof params === 'object' && Object.keys(params).length === 0);
        return isRight ? {result: load().orders} : {error: INVALID_PARAMS};
    }
    default:
        return {error: {code: -32601, message: 'Method not found'}};
    }
}

// The reply to one call, or undefined for a notification.
function reply(call) {
    const isObject = call !== null && typeof call === 'object' && !Array.isArray(call);
    const hasParams = isObject && call.params !== undefined;
    const id = isObject && (typeof call.id === 'string' || typeof call.id === 'number')
        ? call.id : null;
    if (!isObject || call.jsonrpc !== '2.0' || typeof call.method !== 'string'
        || (hasParams && (call.params === null || typeof call.params !== 'object'))
        || (call.id !== undefined && call.id !== null && id === null)) {
        return {jsonrpc: '2.0', id: id, error: {code: -32600, message: 'Invalid Request'}};
    }
    const outcome = perform(call.method, call.params);
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
        answer(request, 200, {jsonrpc: '2.0', id: null, error: error});
        return;
    }
    const isBatch = Array.isArray(call) && call.length > 0;
    const replies = (isBatch ? call : [call]).map(reply)
        .filter(one => one !== undefined);
    if (replies.length === 0) {
        request.return(204);
    } else {
        answer(request, 200, isBatch ? replies : replies[0]);
    }
}

function rest(request, path, body) {
    if (path !== '/orders') {
        const id = Number(path.slice('/orders/'.length));
        const order = load().orders.filter(order => order.id === id)[0];
        if (order === undefined) {
            problem(request, 404, 'no-such-order', 'There is no such order.');
        } else {
            answer(request, 200, order);
        }
    } else if (request.method === 'GET') {
        answer(request, 200, load().orders);
    } else {
        const wanted = parse(body);
        if (wanted === undefined || !isOrder(wanted)) {
            problem(request, 400, 'bad-order', 'An order has an item and a quantity, 1 to 1000.');
            return;
        }
        const order = create(wanted);
        request.headersOut.Location = `/orders/${order.id}`;
        answer(request, 201, order);
    }
}

function methodsOf(path) {
    if (path === '/rpc') {
        return ['POST'];
    }
    if (path === '/orders') {
        return ['GET', 'POST'];
    }
    return /^\/orders\/[1-9][0-9]{0,14}$/.test(path) ? ['GET'] : [];
}

// Every request ends here: verified first, then answered by the path that was signed.
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
