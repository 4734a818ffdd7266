import FuzzSupport
import SignetCrypto
import SignetJSON

@testable import SignetClient
@testable import SignetVault

/// A schema with the values of three inputs (in this order, zero bytes between them: the last is lines
/// KEY=VALUE) is refused with a message that repeats no value, or is sealed, opened and the same again, with
/// no secret in its public part.

private let binding = VersionBinding(app: "com.example.shop", version: "1.0")
private let keys: KeySet = {
    let text =
        #"{"keys":[{"kty":"oct","use":"enc","kid":"v","#
        + #""k":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"}]}"#
    do {
        return try KeySet(parsing: Array(text.utf8), source: "the fuzzer")
    } catch {
        broken("the key is not one: \(error)")
    }
}()

/// Called by libFuzzer once, before it reads the corpus.
@_cdecl("LLVMFuzzerInitialize")
public func begin(_ count: OpaquePointer?, _ arguments: OpaquePointer?) -> CInt {
    let schema =
        #"{"keys":{"a":{"type":"string","visibility":"public","pattern":"^[a-z.]+$","#
        + #""setBy":["defaults","launch"],"meaning":"m"},"b.c":{"type":"integer","minimum":1,"#
        + #""maximum":9},"d":{"type":"duration"},"u":{"type":"url"},"y":{"type":"bytes"},"#
        + #""l":{"type":"array"},"o":{"type":"object"},"n":{"type":"number","enum":[1,2.5]}}}"#
    let defaults = #"{"a":"x.y","b":{"c":3},"d":"2.5s","u":"https://h/","y":"AAEC","l":[1],"o":{}}"#
    let seeds = [
        schema + "\0" + defaults + "\0{}\0a=z\nb.c=4\nn=2.5\nd=1.5\nl=[]",
        schema + "\0{}\0" + defaults + "\0",
    ]
    var shop: [UInt8] = []
    for name in ["schema", "defaults"] {
        let file = Seeds.files(in: "Examples/shop", named: "\(name).json").first
        shop += (file?.bytes ?? []) + [0]
    }
    Seeds.write(
        Seeds.texts(seeds) + [("shop", shop + Array("{}\0".utf8))]
            + Seeds.values(in: "Tests/SignetVaultTests/Vectors/dumps.json").filter {
                $0.bytes.starts(with: Array(#"{"keys""#.utf8))
            })
    return 0
}

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func run(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe input(data, count)
    let parts = parts(of: input, 4)
    let schema: Schema
    do throws(VaultError) {
        schema = try Schema(parsing: parts[0])
    } catch {
        checkLines(error.message, of: "a schema")
        return 0
    }
    for finding in schema.findings { checkMessage(finding.message, of: "a schema's finding") }
    let lines = parts[3].split(separator: UInt8(ascii: "\n")).map { text(Array($0)) }
    do throws(VaultError) {
        let configuration = try GlobalConfiguration(
            schema: schema, defaults: .json(parts[1]), launch: .texts(lines),
            fetched: .json(parts[2]))
        try seal(configuration)
        services(configuration)
    } catch {
        checkLines(error.message, of: "a configuration")
    }
    if !Planted.isHeld(in: input) { plant(schema) }
    return 0
}

/// A configuration in a dump is the one that was sealed.
private func seal(_ configuration: GlobalConfiguration) throws(VaultError) {
    for (name, _) in configuration.publicValues
    where configuration.schema.rule(named: name)?.isPublic != true {
        broken("a secret key is public: \(name)")
    }
    let dump = try configuration.seal(
        with: .keys(keys), for: binding, sequence: 1, now: Fixture.now)
    guard let opened = try? dump.open(with: keys, for: binding, now: Fixture.now) else {
        broken("a configuration that was sealed does not open")
    }
    guard let restored = try? GlobalConfiguration(restoring: opened, schema: configuration.schema),
        restored.values == configuration.values,
        restored.publicValues == configuration.publicValues
    else { broken("a configuration that was sealed is not restored") }
}

/// The client's readers of a configuration.
private func services(_ configuration: GlobalConfiguration) {
    do throws(ClientError) {
        _ = try ServiceConfiguration.all(
            in: configuration, mode: .production, adapters: nil, checks: nil)
        _ = try URLRules(configuration)
    } catch {
        checkLines(error.message, of: "a service's configuration")
    }
}

/// No message repeats a value, whatever is wrong with it.
private func plant(_ schema: Schema) {
    let secret = JSONValue.string(Planted.secret)
    for key in schema.keys.prefix(16) {
        for value: JSONValue in [
            secret, [secret], ["x": secret], .string("https://u:\(Planted.secret)@h/"),
            .string("\u{1B}" + Planted.secret),
        ] {
            for input in [
                ConfigurationInput.values([key: value]), .texts(["\(key)=\(value.text)"]),
                .texts(["\(key)=\(Planted.secret)\""]),
                .json(Array("{\"x\(Planted.secret.dropFirst(7))\":1,\"y\":".utf8)),
            ] {
                do throws(VaultError) {
                    _ = try GlobalConfiguration(schema: schema, defaults: .none, launch: input)
                } catch {
                    Planted.check(error.message, of: "a configuration with a secret")
                }
            }
        }
    }
}
