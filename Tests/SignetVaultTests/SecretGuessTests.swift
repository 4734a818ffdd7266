import SignetJSON
import Testing

@testable import SignetVault

/// One judgement of names and values, in guessed schemas and in the check of public values.
@Suite struct SecretGuessTests {
    /// Groups of configurations, each with one key `[name, value as JSON in parts…]`.
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let value: JSONValue
        var testDescription: String { name }

        static func all(_ group: String) throws -> [Case] {
            try #require(vector("secret-guesses.json")[group]?.array).map { parts in
                let parts = try #require([String].init(strings: parts))
                return Case(
                    name: parts[0],
                    value: try JSONValue(parsing: Array(parts.dropFirst().joined().utf8)))
            }
        }
    }

    private func guess(_ item: Case) throws -> GuessedSchema {
        try GuessedSchema(of: [item.name: item.value])
    }

    /// The code of the refusal of the value in a schema that makes its key public.
    private func refusal(_ item: Case, of guess: GuessedSchema.Guess) -> String? {
        code {
            let keys =
                #"{"\#(guess.name)":{"type":"\#(guess.type.rawValue)","visibility":"public"}}"#
            _ = try GlobalConfiguration(
                schema: schema(keys), defaults: .values([item.name: item.value]))
        }
    }

    @Test(arguments: try Case.all("secret"))
    func hidesASecret(_ item: Case) throws {
        let guessed = try guess(item)
        #expect(guessed.values(secret: false).isEmpty)
        let first = try #require(guessed.guesses.first)
        #expect(refusal(item, of: first) == "public-value-looks-secret")
    }

    @Test(arguments: try Case.all("public"))
    func showsAnOrdinaryValue(_ item: Case) throws {
        let guessed = try guess(item)
        for guess in guessed.guesses {
            #expect(!guess.isSecret, "\(guess.name): \(guess.secretReason ?? "")")
        }
        if let first = guessed.guesses.first, guessed.guesses.count == 1 {
            #expect(refusal(item, of: first) == nil)
        }
    }

    @Test func aSchemaMayListValuesOfASecretName() throws {
        let rule = #""type":"string","visibility":"public""#
        let values = ConfigurationInput.values(["proxy.auth": "basic"])
        #expect(
            code {
                _ = try GlobalConfiguration(
                    schema: schema(#"{"proxy.auth":{\#(rule)}}"#), defaults: values)
            } == "public-value-looks-secret")
        _ = try GlobalConfiguration(
            schema: schema(#"{"proxy.auth":{\#(rule),"enum":["none","basic"]}}"#),
            defaults: values)
        _ = try GlobalConfiguration(
            schema: schema(#"{"proxy.auth":{\#(rule),"notSecret":true}}"#), defaults: values)
    }

    @Test func theReasonHoldsNoPartOfTheValue() throws {
        for item in try Case.all("secret") {
            let reason = try #require(guess(item).guesses.first?.secretReason)
            #expect(!item.value.text.contains(reason))
        }
    }

    @Test(arguments: ["alice:hunter2", "sk_live_" + "abcdefghijklmnop1234"])
    func keepsANameThatIsASecretInItsObject(_ name: String) throws {
        let guessed = try GuessedSchema(of: ["a": ["users": [name: ["role": "rw"]], "b": 1]])
        #expect(guessed.guesses.map(\.name) == ["a.users", "a.b"])
        #expect(guessed.guesses.map(\.isSecret) == [true, false])
        #expect(!JSONValue.object(guessed.document).text.contains(name))
        let error = error { _ = try GuessedSchema(of: ["b": 1, name: 1]) }
        #expect(error?.code == .malformedInput)
        #expect(error?.message.contains("member 2") == true)
        #expect(error?.message.contains(name) == false)
    }

    @Test func hidesTheWholeDataOfASecretResource() throws {
        let guessed = try GuessedSchema(of: [
            "kind": "Secret", "metadata": ["name": "db"], "data": ["user": "YQ==", "b": ["c": 1]],
            "stringData": ["other": "tangerine"],
        ])
        let secrets = guessed.guesses.filter(\.isSecret).map(\.name)
        #expect(secrets == ["data.user", "data.b.c", "stringData.other"])
    }

    @Test func hidesEachMemberOfAPrivateKeyAtTheTop() throws {
        let guessed = try GuessedSchema(of: ["kty": "OKP", "crv": "Ed25519", "x": "a", "d": "b"])
        #expect(guessed.values(secret: false).isEmpty)
    }

    @Test(arguments: ["//", "a:b@", "://", "/ //a", "authorization \"x "])
    func aTextOfRepeatedMarksEnds(_ mark: String) {
        let text = String(repeating: mark, count: 20_000)
        _ = SecretDetector.finding(in: .string(text), named: "a")
    }

    @Test func aLongTextOfAssignmentsEnds() {
        let text = (0..<20_000).map { "n\($0)=v\($0)" }.joined(separator: "&")
        #expect(SecretDetector.finding(in: .string(text), named: "a") == nil)
        let urls = String(repeating: "http://a/b?c=d&", count: 20_000)
        #expect(SecretDetector.finding(in: .string(urls), named: "a") == nil)
    }
}
