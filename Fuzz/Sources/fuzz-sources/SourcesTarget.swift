import FuzzSupport
import SignetJSON

@testable import SignetVault

/// A configuration of any format that `vault init` reads is refused with a message that holds no value, or its
/// values, written as JSON, are read as they were, and no message of the guessed schema repeats a value.
///
/// The folder Formats is the tool's own. An input begins with the number of its format.

private let formats = SourceFormat.allCases

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func run(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe input(data, count)
    guard let first = input.first else { return 0 }
    let bytes = Array(input.dropFirst())
    let format = formats[Int(first &- UInt8(ascii: "0")) % formats.count]
    let object: JSONObject
    do throws(MalformedSource) {
        let found = try format.object(parsing: bytes)
        object = found.object
        for note in found.notes { checkMessage(note, of: "a note on \(format.name)") }
    } catch {
        checkMessage(error.problem, of: format.name)
        let lines = bytes.count(where: { $0 == 0x0A || $0 == 0x0D }) + 2
        guard error.line.map({ (0...lines).contains($0) }) != false else {
            broken("a line that the file does not have")
        }
        if !Planted.isHeld(in: bytes) { readPlanted(bytes, as: format) }
        return 0
    }
    guard let again = try? SourceFormat.json.object(parsing: JSONValue.object(object).serialized()),
        again.object == object
    else { broken("\(format.name): values that were written as JSON are not read as they were") }
    guess(object)
    return 0
}

/// Demands that the message about an invalid file repeats nothing of a value.
private func readPlanted(_ bytes: [UInt8], as format: SourceFormat) {
    // A message about a Secret names its entries.
    let marks = format == .kubernetes ? " " : "\"'="
    guard let place = bytes.firstIndex(where: { Array(marks.utf8).contains($0) }),
        format != .kubernetes || place > 0 && bytes[place - 1] == UInt8(ascii: ":")
    else { return }
    let planted = bytes[...place] + Planted.secret.utf8 + bytes[(place + 1)...]
    do throws(MalformedSource) {
        _ = try format.object(parsing: Array(planted))
    } catch {
        Planted.check(error.problem, of: format.name)
    }
}

private func guess(_ object: JSONObject) {
    do throws(VaultError) {
        let guessed = try GuessedSchema(of: object)
        let schema = try Schema(.object(guessed.document))
        guard schema.keys.count == guessed.guesses.count else { broken("a key is lost") }
        let count = guessed.values(secret: true).count + guessed.values(secret: false).count
        guard count + guessed.withoutValue.count == guessed.guesses.count else {
            broken("a value is lost")
        }
        guard try GuessedSchema(of: object, reason: "all").guesses.allSatisfy(\.isSecret) else {
            broken("a key is public although all are secret")
        }
    } catch {
        checkLines(error.message, of: "a guessed schema")
    }
}
