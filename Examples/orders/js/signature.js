// HTTP message signatures (RFC 9421, hmac-sha256) and Content-Digest (RFC 9530, sha-256), verified
// from the request as nginx received it. Nothing here comes from Signet: the host is the other side.

import crypto from 'crypto';
import structured from 'structured.js';

const REQUIRED = ['@method', '@authority', '@path'];
const MAXIMUM_AGE = 300;  // seconds
const CLOCK_SKEW = 60;
const MAXIMUM_SIGNATURES = 4;

function refuse(reason) {
    const error = new Error(reason);
    error.isRefusal = true;
    throw error;
}

// The values of a field in order, without the white space around them; an array, perhaps empty.
function fieldValues(request, name) {
    return request.rawHeadersIn.filter(field => field[0].toLowerCase() === name)
        .map(field => field[1].replace(/^[ \t]+|[ \t]+$/g, ''));
}

function dictionary(request, name) {
    try {
        return structured.parseDictionary(fieldValues(request, name).join(', '));
    } catch (error) {
        return refuse(`malformed-${name}`);
    }
}

// The target as it stood in the request line; nginx writes that line for HTTP/2 too.
function requestTarget(request) {
    const line = request.variables.request;
    return line.slice(line.indexOf(' ') + 1, line.lastIndexOf(' '));
}

// Host and port in their normal form; an absolute-form target wins over Host.
function authority(request) {
    const absolute = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/([^\/?#]*)/.exec(requestTarget(request));
    const hosts = fieldValues(request, 'host');
    if (absolute === null && hosts.length !== 1) {
        refuse('not-one-host');
    }
    const name = (absolute === null ? hosts[0] : absolute[1]).toLowerCase();
    return name.replace(request.variables.scheme === 'https' ? /:(443)?$/ : /:(80)?$/, '');
}

function pathAndQuery(request) {
    const target = request.variables.request_uri;
    const mark = target.indexOf('?');
    return mark < 0 ? [target || '/', '?'] : [target.slice(0, mark) || '/', target.slice(mark)];
}

// The value of one covered component (RFC 9421, sections 2.1 and 2.2).
function componentValue(request, name) {
    const target = pathAndQuery(request);
    switch (name) {
    case '@method':
        return request.method;
    case '@authority':
        return authority(request);
    case '@scheme':
        return request.variables.scheme;
    case '@path':
        return target[0];
    case '@query':
        return target[1];
    case '@request-target':
        return requestTarget(request);
    case '@target-uri':
        return `${request.variables.scheme}://${authority(request)}${target[0]}`
            + (request.variables.request_uri.indexOf('?') < 0 ? '' : target[1]);
    }
    if (name[0] === '@') {
        refuse('unknown-component');
    }
    const values = fieldValues(request, name);
    if (values.length === 0) {
        refuse('covered-field-missing');
    }
    return values.join(', ');
}

// The bytes that were signed (section 2.5), from this request alone.
function signatureBase(request, input) {
    const seen = {};
    const lines = input.items.map(item => {
        if (item.type !== 'string' || !/^@?[a-z0-9!#$%&'*+.^_`|~-]+$/.test(item.value)) {
            refuse('bad-component');
        }
        if (item.parameters.length > 0) {
            refuse('component-parameters-unsupported');
        }
        if (seen[item.value]) {
            refuse('component-twice');
        }
        seen[item.value] = true;
        const value = componentValue(request, item.value);
        if (!/^[\x20-\x7e\t]*$/.test(value)) {
            refuse('covered-value-not-ascii');
        }
        return `"${item.value}": ${value}\n`;
    });
    return `${lines.join('')}"@signature-params": ${structured.serializeInnerList(input)}`;
}

function parameter(input, name, type) {
    const found = input.parameters.filter(parameter => parameter.name === name)[0];
    if (found === undefined) {
        return undefined;
    }
    return found.type === type ? found.value : refuse(`bad-${name}`);
}

// Checks before any cryptography: coverage, time, algorithm.
function checkPolicy(input, hasBody, now) {
    const wanted = hasBody ? REQUIRED.concat(['content-digest']) : REQUIRED;
    wanted.forEach(name => {
        if (!input.items.some(item => item.value === name)) {
            refuse('coverage');
        }
    });
    const created = parameter(input, 'created', 'integer');
    if (created === undefined) {
        refuse('no-created');
    }
    if (created < now - MAXIMUM_AGE) {
        refuse('too-old');
    }
    if (created > now + CLOCK_SKEW) {
        refuse('from-the-future');
    }
    const expires = parameter(input, 'expires', 'integer');
    if (expires !== undefined && expires <= now) {
        refuse('expired');
    }
    const algorithm = parameter(input, 'alg', 'string');
    if (algorithm !== undefined && algorithm !== 'hmac-sha256') {
        refuse('wrong-algorithm');
    }
}

// The secret of a usable key: known, an HMAC-SHA256 key for signatures, in its time, not revoked.
function secretOf(keys, keyID, now) {
    if (keyID === undefined) {
        refuse('no-keyid');
    }
    let key;
    for (let i = 0; i < keys.length; i++) {  // what nginx preloads has no methods of arrays
        key = keys[i].kid === keyID ? keys[i] : key;
    }
    if (key === undefined) {
        refuse('unknown-key');
    }
    const isUsable = key.kty === 'oct' && key.alg === 'HS256' && (key.use || 'sig') === 'sig'
        && !key.revoked && (key.nbf === undefined || key.nbf <= now)
        && (key.exp === undefined || key.exp > now);
    const secret = isUsable ? Buffer.from(key.k, 'base64url') : refuse('unusable-key');
    if (secret.length < 16) {
        refuse('unusable-key');
    }
    return secret;
}

// Looks at every byte whatever it finds; njs has no comparison of its own for this.
function equalInConstantTime(one, other) {
    if (one.length !== other.length) {
        return false;
    }
    let difference = 0;
    for (let i = 0; i < one.length; i++) {
        difference |= one[i] ^ other[i];
    }
    return difference === 0;
}

// A Content-Digest, if there is one, must be that of the received body.
function checkContentDigest(request, body) {
    if (fieldValues(request, 'content-digest').length === 0) {
        return;
    }
    const member = dictionary(request, 'content-digest').filter(m => m.name === 'sha-256')[0];
    if (member === undefined || member.type !== 'bytes') {
        refuse('no-sha-256-digest');
    }
    const digest = crypto.createHash('sha256').update(body).digest();
    if (!equalInConstantTime(digest, member.value)) {
        refuse('content-digest-mismatch');
    }
}

function verifyOne(request, keys, body, input, signatures, now) {
    const signature = signatures.filter(member => member.name === input.name)[0];
    if (input.type !== 'list' || signature === undefined || signature.type !== 'bytes') {
        refuse('no-such-signature');
    }
    checkPolicy(input, body.length > 0, now);
    const keyID = parameter(input, 'keyid', 'string');
    const tag = crypto.createHmac('sha256', secretOf(keys, keyID, now))
        .update(signatureBase(request, input)).digest();
    if (!equalInConstantTime(tag, signature.value)) {
        refuse('signature-mismatch');
    }
    checkContentDigest(request, body);
    return keyID;
}

// Verifies a request against a JWK Set's keys: {keyID} if a signature is valid, else {reason}, a word
// for the log. The response to the caller is the same for every reason.
function verify(request, keys, body, now) {
    try {
        const inputs = dictionary(request, 'signature-input');
        const signatures = dictionary(request, 'signature');
        if (inputs.length === 0) {
            refuse('not-signed');
        }
        if (inputs.length > MAXIMUM_SIGNATURES) {
            refuse('too-many-signatures');
        }
        let first;
        for (let i = 0; i < inputs.length; i++) {
            try {
                return {keyID: verifyOne(request, keys, body, inputs[i], signatures, now)};
            } catch (error) {
                if (!error.isRefusal) {
                    throw error;
                }
                first = first || error.message;
            }
        }
        return {reason: first};
    } catch (error) {
        if (!error.isRefusal) {
            request.error(`orders host: ${error}`);
        }
        return {reason: error.isRefusal ? error.message : 'internal-error'};
    }
}

export default {verify, equalInConstantTime};
