import SignetBase

/// Puts values in the places of marks.
struct RecordingFill {
    let values: [Int: String]

    init(_ values: [Int: String]) { self.values = values }

    /// A request with values in the places of marks, and the marks without one.
    struct Filled {
        var request: RecordedExchange.Request
        var missing: Set<Int> = []
        fileprivate var redactions: [RecordedExchange.Redaction] = []

        /// The place of a mark.
        func place(of mark: Int) -> String {
            redactions.first { $0.mark == mark && $0.place.startsWithBytes(of: "request.") }?.place
                ?? "request"
        }
    }

    /// - Parameter skipped: The names of fields that aren't sent, in lower case.
    func filled(_ exchange: RecordedExchange, without skipped: Set<String>) -> Filled {
        var result = Filled(request: exchange.request)
        result.redactions = exchange.redactions
        result.request.fields.removeAll { field in
            field.name.startsWithBytes(of: ":") || skipped.contains(field.name.lowercased())
        }
        let url = fill(Array(exchange.request.url.utf8), missing: &result.missing)
        result.request.url = String(decoding: url, as: UTF8.self)
        for index in result.request.fields.indices {
            result.request.fields[index].bytes = fill(
                result.request.fields[index].bytes, missing: &result.missing)
        }
        if let body = exchange.request.body {
            result.request.body?.bytes = fill(
                body.bytes, whole: exchange.wholeMarks, missing: &result.missing)
        }
        return result
    }

    private func fill(
        _ bytes: [UInt8], whole: Set<Int> = [], missing: inout Set<Int>
    ) -> [UInt8] {
        var result: [UInt8] = []
        for piece in RedactionMark.pieces(of: bytes, whole: whole) {
            switch piece {
            case .text(let text): result += text
            case .mark(let number):
                if let value = values[number] {
                    result += value.utf8
                } else {
                    missing.insert(number)
                }
            }
        }
        return result
    }
}

extension RecordedExchange {
    /// The marks in the request's body that stand for JSON values with their quotation marks.
    var wholeMarks: Set<Int> {
        Set(
            redactions.filter { $0.isWholeValue && $0.place.startsWithBytes(of: "request.body") }
                .map(\.mark))
    }
}

extension RedactionMark {
    /// A part of a text.
    enum Piece: Hashable {
        case text([UInt8])
        case mark(Int)
    }

    /// Returns the texts between marks, and the marks.
    ///
    /// - Parameter whole: The marks that stand for their quotation marks too.
    static func pieces(of bytes: [UInt8], whole: Set<Int> = []) -> [Piece] {
        var pieces: [Piece] = []
        var kept = 0
        for mark in all(in: bytes) {
            var range = mark.range
            if whole.contains(mark.number), range.lowerBound > kept,
                bytes[range.lowerBound - 1] == ASCII.quote, range.upperBound < bytes.count,
                bytes[range.upperBound] == ASCII.quote
            {
                range = range.lowerBound - 1..<range.upperBound + 1
            }
            if range.lowerBound > kept {
                pieces.append(.text(Array(bytes[kept..<range.lowerBound])))
            }
            pieces.append(.mark(mark.number))
            kept = range.upperBound
        }
        if kept < bytes.count { pieces.append(.text(Array(bytes[kept...]))) }
        return pieces
    }

    /// The name of the variable that has a mark's value: `REDACTED_3`.
    static func variable(_ number: Int) -> String { "REDACTED_\(number)" }
}
