import FuzzSupport
import SignetJSON

@testable import SignetVault

/// Lines NAME=value for sh, Docker or systemd are refused with a message that holds no value, or their values,
/// written in one form, are read as they were.

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
            "A=\"\\`\\n\\\n\" 'b' c\\ d\\\n \r;x\rB=1",
            "# text\nA=5\r\r\n# json\nB=[1]\n  C= x # y\n",
        ]))
    return 0
}

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func run(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe input(data, count)
    for syntax in EnvironmentFile.Syntax.allCases { read(input, as: syntax) }
    return 0
}

private func read(_ input: [UInt8], as syntax: EnvironmentFile.Syntax) {
    do throws(EnvironmentFile.Malformed) {
        let object = try EnvironmentFile.object(parsing: text(input), as: syntax).object
        let lines = written(object, as: syntax)
        guard let again = try? EnvironmentFile.object(parsing: lines, as: syntax).object,
            again == object
        else { broken("\(syntax): values that were written are not read as they were") }
    } catch {
        checkMessage(error.problem, of: "lines for \(syntax)")
        let lines = input.count(where: { $0 == 0x0A }) + 1
        guard let line = error.line, (1...lines).contains(line) else {
            broken("\(syntax): a line that the file does not have")
        }
    }
}

/// Lines of an object that was read: for Docker as they are, else with each text, list and map in double quotes.
private func written(_ object: JSONObject, as syntax: EnvironmentFile.Syntax) -> String {
    object.map { name, value in
        guard !name.isEmpty, name.utf8.allSatisfy({ $0 != 0x5F && !(0x41...0x5A).contains($0) })
        else {
            broken("a name that no line can have")
        }
        let text = value.string ?? value.text
        let variable = name.uppercased().replacing(".", with: "_")
        if syntax == .docker {
            let mark = EnvironmentFile.mark(of: value).map { $0.comment + "\n" } ?? ""
            return "\(mark)\(variable)=\(text)\r\n"
        }
        return switch value {
        case .string: "\(variable)=\"\(quoted(text, as: syntax))\"\n"
        case .bool, .number: "\(variable)=\(text)\n"
        case .null, .array, .object:
            "\(EnvironmentFile.Mark.json.comment)\n\(variable)=\"\(quoted(text, as: syntax))\"\n"
        }
    }.joined()
}

private func quoted(_ text: String, as syntax: EnvironmentFile.Syntax) -> String {
    var quoted = ""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\\", "\"", "$": quoted += "\\\(scalar)"
        case "`" where syntax == .systemd: quoted += "\\`"
        case "\n" where syntax == .shell: quoted += "\\n"
        case "\r" where syntax == .shell: quoted += "\\r"
        default: quoted.unicodeScalars.append(scalar)
        }
    }
    return quoted
}
