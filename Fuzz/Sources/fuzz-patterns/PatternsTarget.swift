import FuzzSupport

@testable import SignetBase

/// A pattern and a text, a zero byte between them: the pattern is refused with a message that does not repeat
/// it, or matches the text as a whole exactly where it is found in it between the text's ends.

/// Called by libFuzzer once, before it reads the corpus.
@_cdecl("LLVMFuzzerInitialize")
public func begin(_ count: OpaquePointer?, _ arguments: OpaquePointer?) -> CInt {
    Seeds.write(
        Seeds.texts([
            "^[a-z.]+$\0a.b", "(a|b)*c{2,5}\0abacc", #"\d{3}-\w+\s?\p{Lu}"# + "\0" + "123-ab A",
            "[^\\x00-\\u{1F600}]\0x", "(?:a?){20}a{20}\0aaaaaaaaaaaaaaaaaaaa",
            "(?i)straße|x\0STRASSE",
            "https://[a-z0-9.-]+(:\\d{1,5})?/.*\0https://h:1/x",
            "(a+)+$\0aaaaaaaaaaaaaaaaaaaaaaaa!",
            ".{0,1000}\0\u{10FFFF}", "\\b\0", "a{,3}|[]\0", "^$|^a$\0a",
        ]))
    return 0
}

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func run(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe input(data, count)
    let parts = parts(of: input, 2)
    let (written, subject) = (text(parts[0]), text(parts[1]))
    let pattern: ValuePattern
    do throws(PatternFailure) {
        pattern = try ValuePattern(written)
    } catch {
        checkMessage(error.reason, of: "a pattern")
        return 0
    }
    let matches = pattern.matches(subject)
    let isFound = pattern.isFound(in: subject)
    if matches, isFound == false { broken("a pattern matches the whole text and is not found") }
    if pattern.matches(subject) != matches || pattern.isFound(in: subject) != isFound {
        broken("a pattern matches once, and once not")
    }
    guard let anchored = try? ValuePattern("^(?:\(written))$"),
        let isWhole = anchored.isFound(in: subject), isFound != nil
    else { return 0 }
    if isWhole != matches { broken("a pattern between the text's ends says something else") }
    if anchored.matches(subject) != matches { broken("the text's ends change what matches") }
    return 0
}
