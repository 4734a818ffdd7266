// Structured fields (RFC 8941), as much of them as Signature-Input, Signature and Content-Digest need:
// a dictionary whose members are items or inner lists, each with parameters. Stricter than the RFC
// if leniency would let two readers disagree: a name given twice and base64 that is not canonical
// are errors. (Written for njs 0.7: no for-of, no classes, no spread.)

function fail(what) {
    throw new Error(`structured field: ${what}`);
}

// A cursor over the text; each parser leaves it after the text that it parsed.
function Cursor(text) {
    this.text = text;
    this.at = 0;
}

// The text at the cursor that fits the pattern (which must be anchored), taken; null if none does.
function take(cursor, pattern) {
    const match = pattern.exec(cursor.text.slice(cursor.at));
    if (match === null) {
        return null;
    }
    cursor.at += match[0].length;
    return match[0];
}

function takeCharacter(cursor, character) {
    if (cursor.text[cursor.at] !== character) {
        return false;
    }
    cursor.at += 1;
    return true;
}

function parseKey(cursor) {
    return take(cursor, /^[a-z*][a-z0-9_.*-]*/) || fail('a key was expected');
}

// A bare item: {type, value}; bytes are a Buffer, everything else a string, number or boolean.
function parseBareItem(cursor) {
    const first = cursor.text[cursor.at];
    let text;
    if (first === '"') {
        text = take(cursor, /^"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*"/) || fail('bad string');
        return {type: 'string', value: text.slice(1, -1).replace(/\\(["\\])/g, '$1')};
    }
    if (first === ':') {
        text = take(cursor, /^:[A-Za-z0-9+\/]*={0,2}:/) || fail('bad byte sequence');
        const bytes = Buffer.from(text.slice(1, -1), 'base64');
        if (bytes.toString('base64') !== text.slice(1, -1)) {
            fail('base64 is not canonical');
        }
        return {type: 'bytes', value: bytes};
    }
    if (first === '?') {
        text = take(cursor, /^\?[01]/) || fail('bad boolean');
        return {type: 'boolean', value: text === '?1'};
    }
    text = take(cursor, /^[A-Za-z*][A-Za-z0-9:\/!#$%&'*+.^_`|~-]*/);
    if (text !== null) {
        return {type: 'token', value: text};
    }
    text = take(cursor, /^-?[0-9]{1,15}(?![0-9.])/);
    if (text !== null) {
        return {type: 'integer', value: Number(text)};
    }
    return fail('an item was expected');
}

// Parameters as an array of {name, type, value}, in order.
function parseParameters(cursor) {
    const parameters = [];
    while (takeCharacter(cursor, ';')) {
        take(cursor, /^ */);
        const name = parseKey(cursor);
        if (parameters.some(parameter => parameter.name === name)) {
            fail('a parameter stands twice');
        }
        const item = takeCharacter(cursor, '=')
            ? parseBareItem(cursor) : {type: 'boolean', value: true};
        parameters.push({name: name, type: item.type, value: item.value});
    }
    return parameters;
}

function parseItem(cursor) {
    const item = parseBareItem(cursor);
    item.parameters = parseParameters(cursor);
    return item;
}

function parseInnerList(cursor) {
    const items = [];
    cursor.at += 1;
    while (true) {
        take(cursor, /^ */);
        if (takeCharacter(cursor, ')')) {
            return {type: 'list', items: items, parameters: parseParameters(cursor)};
        }
        items.push(parseItem(cursor));
        if (cursor.text[cursor.at] !== ' ' && cursor.text[cursor.at] !== ')') {
            fail('a space or ) was expected');
        }
    }
}

// The members of a dictionary, as an array of {name, type, value or items, parameters}.
function parseDictionary(text) {
    const cursor = new Cursor(text.replace(/^ +| +$/g, ''));
    const members = [];
    while (cursor.at < cursor.text.length) {
        const name = parseKey(cursor);
        if (members.some(member => member.name === name)) {
            fail('a member stands twice');
        }
        let member;
        if (!takeCharacter(cursor, '=')) {
            member = {type: 'boolean', value: true, parameters: parseParameters(cursor)};
        } else if (cursor.text[cursor.at] === '(') {
            member = parseInnerList(cursor);
        } else {
            member = parseItem(cursor);
        }
        member.name = name;
        members.push(member);
        take(cursor, /^[ \t]*/);
        if (cursor.at === cursor.text.length) {
            return members;
        }
        if (!takeCharacter(cursor, ',')) {
            fail('a comma was expected');
        }
        take(cursor, /^[ \t]*/);
        if (cursor.at === cursor.text.length) {
            fail('a comma at the end');
        }
    }
    return members;
}

function serializeBareItem(item) {
    switch (item.type) {
    case 'string':
        return `"${item.value.replace(/(["\\])/g, '\\$1')}"`;
    case 'bytes':
        return `:${item.value.toString('base64')}:`;
    case 'boolean':
        return item.value ? '?1' : '?0';
    default:
        return String(item.value);
    }
}

function serializeParameters(parameters) {
    return parameters.map(parameter => parameter.type === 'boolean' && parameter.value
        ? `;${parameter.name}` : `;${parameter.name}=${serializeBareItem(parameter)}`).join('');
}

function serializeInnerList(list) {
    const items = list.items.map(
        item => serializeBareItem(item) + serializeParameters(item.parameters));
    return `(${items.join(' ')})${serializeParameters(list.parameters)}`;
}

export default {parseDictionary, serializeInnerList};
