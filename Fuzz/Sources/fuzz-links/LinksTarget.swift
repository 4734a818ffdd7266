import FuzzSupport
import HTTPTypes
import SignetRPC

@testable import SignetCurl

/// Link fields (RFC 8288): refused with a message, or read as links that are the same when they are written again.

/// Called by libFuzzer once, before it reads the corpus.
@_cdecl("LLVMFuzzerInitialize")
public func begin(_ count: OpaquePointer?, _ arguments: OpaquePointer?) -> CInt {
    Seeds.write(
        Seeds.texts([
            "<https://h/2>; rel=\"next last\"; title*=UTF-8''a, </a>;rel=prev",
            "</b>; anchor=\"#a\"; rel=\"a\\\"b\" ;rel=next;, ,<>", "</c>;REL = next ; x",
            "</d>; rel=\"next\"\r\nLink: </e>; rel=\"next\"", "<f", "</g>; rel=\"a", "</h> x",
        ]))
    return 0
}

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func run(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let head = unsafe Array("HTTP/1.1 200 OK\r\nLink: ".utf8) + input(data, count)
    guard let read = ResponseHead((head + Array("\r\n".utf8)).span) else { return 0 }
    do throws(PayloadError) {
        let links = try LinkField(read.response.headerFields)
        guard let name = HTTPField.Name("Link") else { broken("no name") }
        var fields = HTTPFields()
        for link in links.links {
            guard !link.target.utf8.contains(UInt8(ascii: ">")),
                link.relations.allSatisfy({ !$0.isEmpty && !$0.contains(" ") })
            else { broken("a link that can't be written") }
            fields.append(HTTPField(name: name, value: written(link)))
        }
        let again = try? LinkField(fields)
        guard again == links else { broken("links are not read as they were written") }
        for relation in links.links.flatMap(\.relations) {
            do throws(PayloadError) {
                _ = try links.target(of: relation)
            } catch {
                checkMessage(error.message, of: "Link")
            }
        }
    } catch {
        checkMessage(error.message, of: "Link")
    }
    return 0
}

/// A link with its parameters in quotes.
private func written(_ link: LinkField.Link) -> String {
    func quoted(_ text: String) -> String {
        // A quote and a combining mark after it are one character, but two scalars.
        var quoted = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\\" || scalar == "\"" { quoted.unicodeScalars.append("\\") }
            quoted.unicodeScalars.append(scalar)
        }
        return quoted + "\""
    }
    var text = "<\(link.target)>; rel=" + quoted(link.relations.joined(separator: " "))
    if let anchor = link.anchor { text += "; anchor=" + quoted(anchor) }
    return text
}
