import SignetJSON
import Testing

@testable import SignetVault

/// Types and visibility guessed from values.
@Suite struct GuessedSchemaTests {
    private func guess(_ text: String) throws -> GuessedSchema {
        try GuessedSchema(of: try #require(JSONValue(parsing: Array(text.utf8)).object))
    }

    @Test(arguments: [
        (#""orders""#, "string", nil), (#""5s""#, "duration", nil), (#""1h30m""#, "duration", nil),
        (#""https://a.example.com/x""#, "url", nil), ("3", "integer", nil), ("1.5", "number", nil),
        ("1e3", "number", nil), ("99999999999999999999", "number", nil), ("1e999", "string", nil),
        ("true", "boolean", nil), ("null", "string", nil), ("[]", "array", nil),
        ("[1,2]", "array", "integer"), ("[1,2.5]", "array", "number"),
        (#"["a","5s"]"#, "array", "string"), (#"["1s","2s"]"#, "array", "duration"),
        (#"[1,"a"]"#, "array", nil), ("[null]", "array", nil), ("{}", "object", nil),
        (#""5""#, "string", nil), (#""5 s""#, "string", nil), (#""no""#, "string", nil),
    ])
    func guessesTypes(_ value: String, _ type: String, _ items: String?) throws {
        let guessed = try guess(#"{"a":\#(value)}"#)
        #expect(guessed.guesses[0].type.rawValue == type)
        #expect(guessed.guesses[0].elementType?.rawValue == items)
        #expect(!guessed.guesses[0].isSecret)
        // The schema accepts the value that it was guessed from.
        let schema = try Schema(.object(guessed.document))
        _ = try GlobalConfiguration(
            schema: schema, defaults: .values(guessed.values(secret: false)))
    }

    @Test(arguments: [
        ("database.password", #""x""#), ("DB_PASSWORD", #""x""#), ("apiKey", #""x""#),
        ("api-key", #""x""#), ("partner.token", #""x""#), ("secrets.a", #""x""#),
        ("signing.key", #""x""#), ("password", "12345"), ("tokens", #"["a","b"]"#),
        ("db.pass", #""x""#), ("DB_PASSWORD2", #""x""#), ("PGPASSWORD", #""x""#),
        ("smtppass", #""x""#), ("accesstoken", #""x""#), ("redis.auth", #""x""#),
        ("session_cookie", #""x""#), ("api.key", "12345678"), ("pin", "1234"), ("passcode", "1234"),
        ("dsn", "null"), ("a", #""ghp_ZZZZZZ0123456789abcdefABCDEF01234567""#),
        ("a", #""postgres://user:pass@db.example.com/x""#),
        ("a", #"["-----BEGIN PRIVATE\u0020KEY-----\nMHcC\n-----END PRIVATE\u0020KEY-----"]"#),
    ])
    func looksSecret(_ name: String, _ value: String) throws {
        let guessed = try guess(#"{"\#(name)":\#(value)}"#)
        #expect(guessed.guesses[0].isSecret)
        #expect(guessed.values(secret: false).isEmpty)
        #expect(!"\(guessed)".contains("ZZZZZZ"))
    }

    @Test(arguments: [
        ("public.key", #""x""#), ("publicKey", #""x""#), ("max.tokens", "5"),
        ("token.timeout", #""5s""#), ("requires.password", "true"), ("sort.key", #""x""#),
        ("monkey", #""x""#), ("auth.url", #""x""#), ("jwt.issuer", #""x""#), ("max.keys", "5"),
        ("cookie_domain", #""x""#), ("passenger", #""x""#), ("pins", "2"),
        ("pin", #""sha256/d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM=""#),
    ])
    func looksPublic(_ name: String, _ value: String) throws {
        #expect(!(try guess(#"{"\#(name)":\#(value)}"#)).guesses[0].isSecret)
    }

    @Test func nestedObjectsBecomeDottedNames() throws {
        let guessed = try guess(#"{"a":{"b":{"c":1},"d":{}},"e.f":2}"#)
        #expect(guessed.guesses.map(\.name) == ["a.b.c", "a.d", "e.f"])
        #expect(guessed.values(secret: false) == ["a.b.c": 1, "a.d": [:], "e.f": 2])
    }

    @Test(arguments: ["{}", #"{"a":{"b":1},"a.b":2}"#])
    func refusesInvalidConfigurations(_ text: String) {
        #expect(code { _ = try guess(text) } == "malformed-input")
    }
}
