import FuzzSupport

@testable import SignetRPC
@testable import SignetRPCStreams

/// A stream of messages is cut in the same places whatever pieces it comes in, within the limits, and a
/// message that is written is the one that is read. The first byte says how messages are framed.

/// Called by libFuzzer once, before it reads the corpus.
@_cdecl("LLVMFuzzerInitialize")
public func begin(_ count: OpaquePointer?, _ arguments: OpaquePointer?) -> CInt {
    Seeds.write(
        Seeds.texts([
            "\0Content-Length: 2\r\n\r\n{}Content-Length: 1\r\nContent-Type: a/b; charset=utf-8\r\n\r\n1",
            "\u{1}{\"id\":1}\n\r\n[]\r\n1", "\0content-length:0\r\nX: y\r\n\r\n",
            "\0Content-Length: 99\r\n\r\n",
        ]))
    return 0
}

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func run(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe input(data, count)
    guard let first = input.first else { return 0 }
    let framing = first & 1 == 0 ? RPCFraming.contentLength : .lines
    let bytes = Array(input.dropFirst())
    let whole = read([bytes], framing)
    for size in [1, 7] {
        let pieces = stride(from: 0, to: bytes.count, by: size).map {
            Array(bytes[$0..<min($0 + size, bytes.count)])
        }
        let other = read(pieces, framing)
        if other.messages != whole.messages || (other.error == nil) != (whole.error == nil) {
            broken("a stream in pieces of \(size) is cut in other places")
        }
    }
    guard whole.messages.allSatisfy({ !$0.contains(0x0A) && $0.last != 0x0D && !$0.isEmpty }) else {
        return 0
    }
    let again = read([whole.messages.flatMap(framing.frame)], framing)
    guard again.messages == whole.messages, again.error == nil else {
        broken("messages that were written are not read as they were")
    }
    return 0
}

private func read(
    _ pieces: [[UInt8]], _ framing: RPCFraming
) -> (messages: [[UInt8]], error: PayloadError?) {
    var reader = FrameReader(framing, maximumHeaderSize: 256, maximumMessageSize: 1024)
    var messages: [[UInt8]] = []
    do throws(PayloadError) {
        for piece in pieces {
            reader.push(piece)
            while let message = try reader.next() {
                if message.count > 1024 { broken("a message is longer than the limit") }
                messages.append(message)
            }
        }
        return (messages, nil)
    } catch {
        checkMessage(error.message, of: "a frame")
        return (messages, error)
    }
}
