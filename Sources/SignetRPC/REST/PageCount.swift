import SignetJSON

/// Counts the pages or the items of a list.
package struct PageCount: Sendable, Hashable {
    let unit: Paging.CountedUnit
    let target: Paging.Target
    /// The member names that lead to the array of items.
    let items: [String]
    /// The number of the first page, or the offset of its first item.
    package let first: Int
    /// The number of items of a full page; nil if only an empty page is the end.
    let size: Int?

    /// Returns the next page's number after a page; nil at the list's end.
    ///
    /// - Parameter number: The page's own number.
    /// - Throws: `PayloadError` with code `malformed-response` if the response has no array of
    ///   items. A null is an empty array.
    package func next(
        after number: Int, in response: UnboxedResponse
    ) throws(PayloadError) -> Int? {
        let value = items.reduce(response.result?.value) { $0?[$1] }
        if value?.isNull == true { return nil }
        guard let count = value?.array?.count else {
            throw .malformedResponse(
                "found \(value.map { "a value of type \($0.typeName)" } ?? "no value") instead of "
                    + "the page's items, expected an array", status: response.status)
        }
        guard count > 0, count >= size ?? 0 else { return nil }
        return number + (unit == .page ? 1 : count)
    }

    /// Checks the first number and the size of a page.
    ///
    /// - Throws: `PayloadError` with code `invalid-params`.
    func check() throws(PayloadError) {
        guard (0...1 << 53).contains(first) else {
            throw .invalidParameters("the first page's number is \(first), expected 0...2^53")
        }
        if let size, size < 1 {
            throw .invalidParameters("the size of a page is \(size), expected 1 or more")
        }
    }
}
