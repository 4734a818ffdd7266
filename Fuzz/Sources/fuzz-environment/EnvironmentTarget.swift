import FuzzSupport
import SignetJSON

@testable import SignetVault

/// A .env file is refused with a message that holds no value, or its values, written in one form, are read as
/// they were.

/// Called by libFuzzer once, before it reads the corpus.
@_cdecl("LLVMFuzzerInitialize")
public func begin(_ count: OpaquePointer?, _ arguments: OpaquePointer?) -> CInt {
    Seeds.write(
        Seeds.texts([
            "DATABASE_HOST=db.example.com\nexport DATABASE_PORT = 5432   # the usual one\n",
            #"A='$(x) "y" \n'"# + "\r\n" + #"B="a\nb \$x \"q\" \\ é" # comment"#,
            "NUMBER=\"5\"\nZERO=007\nUPPER=True\nLOWER=true\nEMPTY=\nHASH=a#b\nBIG=-1.5e400",
            "LINES=\"one\ntwo\"\n#only a comment\n\n  X__Y_=\t1 \n", "A_=1\nA=2", "_=1", "A='",
            "a.b-C=`$x`\n", "# json\nA='[1,\"b\"]'\n#json\nB=\"{}\"\n# json\n\nC='null'",
            "A='it'\\''s'\"x\"",
        ]))
    return 0
}

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func run(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe input(data, count)
    do throws(EnvironmentFile.Malformed) {
        let object = try EnvironmentFile.object(parsing: text(input)).object
        guard let again = try? EnvironmentFile.object(parsing: written(object)).object,
            again == object
        else { broken("values that were written are not read as they were") }
    } catch {
        checkMessage(error.problem, of: "a .env file")
        let lines = input.count(where: { $0 == 0x0A }) + 1
        guard let line = error.line, (1...lines).contains(line) else {
            broken("a line that the file does not have")
        }
    }
    return 0
}

/// Lines of an object that was read, with each text, list and map in double quotes.
private func written(_ object: JSONObject) -> String {
    object.map { name, value in
        guard !name.isEmpty, name.utf8.allSatisfy({ $0 != 0x5F && !(0x41...0x5A).contains($0) })
        else {
            broken("a name that no line can have")
        }
        var quoted = ""
        for scalar in (value.string ?? value.text).unicodeScalars {
            switch scalar {
            case "\\", "\"", "$": quoted += "\\\(scalar)"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        let variable = name.uppercased().replacing(".", with: "_")
        return switch value {
        case .string: "\(variable)=\"\(quoted)\"\n"
        case .bool, .number: "\(variable)=\(value.text)\n"
        case .null, .array, .object:
            "\(EnvironmentFile.jsonComment)\n\(variable)=\"\(quoted)\"\n"
        }
    }.joined()
}
