import FuzzSupport
import RawStructuredFieldValues

@testable import SignetSigning

/// The value of a structured field is refused with a message, or is what swift-http-structured-headers takes
/// it for; its strict spelling is its own.

/// Called by libFuzzer once, before it reads the corpus.
@_cdecl("LLVMFuzzerInitialize")
public func begin(_ count: OpaquePointer?, _ arguments: OpaquePointer?) -> CInt {
    Seeds.write(
        Seeds.values(in: "Tests/SignetSigningTests/Vectors/rfc9421-components.json")
            + Seeds.values(in: "Tests/SignetSigningTests/Vectors/salted-hmac-v1.json")
            + Seeds.texts([
                #"sig1=("@method" "@query-param";name="a\"b" "c";bs;req);created=1;keyid="k""#,
                "sha-256=:AAEC:, sha-512=:AAEC=:", "a=1, b=2.5;x;y=?0, c=token/x, d=@1, e=%\"a\"",
                "a, b;q=0.5, c=()", "1;a, (2 3);b", "@method,\"content-type\";sf", "\"a\\\\b\"",
                "a=1,a=2",
            ]))
    return 0
}

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func run(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe input(data, count)
    // A field's value comes without the white space around it (RFC 9110, section 5.5).
    dictionary(input.trimmingWhiteSpace())
    for type in StructuredFieldType.allCases {
        do throws(SigningError) {
            let strict = try StructuredField.serialize(input, as: type, field: "x")
            guard (try? StructuredField.serialize(strict, as: type, field: "x")) == strict else {
                broken("a strict spelling is not its own: \(text(strict))")
            }
        } catch {
            checkMessage(error.message, of: "a field")
        }
    }
    do throws(SigningError) {
        let components = try ComponentIdentifier.list(parsing: text(input))
        let listed = components.map(\.listed).joined(separator: ",")
        guard (try? ComponentIdentifier.list(parsing: listed)) == components else {
            broken("a list of components is not its own: \(listed)")
        }
    } catch {
        checkMessage(error.message, of: "a list of components")
    }
    return 0
}

/// Signet's faster reader of dictionaries, compared with the library's.
private func dictionary(_ input: [UInt8]) {
    let ours: StructuredDictionary
    do throws(SigningError) {
        ours = try StructuredDictionary(parsing: input, field: "x")
    } catch {
        checkMessage(error.message, of: "a dictionary")
        return
    }
    var parser = StructuredFieldValueParser(input)
    guard let library = try? parser.parseDictionaryFieldValue() else {
        broken("a dictionary is taken that the library refuses")
    }
    guard library.map({ Array($0.0.utf8) }) == ours.members.map({ Array(ours[$0.key]) }) else {
        broken("the library sees other members")
    }
    for (member, (_, other)) in zip(ours.members, library) {
        let names: [String]
        switch (member.value, other) {
        case (.innerList(let range), .innerList(let list)):
            guard let items = try? ours.items(of: range), items.count == list.bareInnerList.count
            else { broken("the library sees another inner list") }
            names = list.rfc9651Parameters.map(\.0)
        case (_, .item(let item)): names = item.rfc9651Parameters.map(\.0)
        default: broken("the library sees a list where we see an item, or the other way round")
        }
        guard names == member.parameters.map({ text(Array(ours[$0.name])) }) else {
            broken("the library sees other parameters")
        }
    }
}
