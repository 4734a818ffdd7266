package import Testing

/// The rows of `Documentation/features.md` that a test shows. `Scripts/features` reads the ids in
/// the source, so they must be literals.
///
/// ```swift
/// @Test(.features("000-01")) func afterShutdownNoCallIsTaken() {}
/// ```
package struct Features: TestTrait {
    /// The rows' ids, such as `000-01`.
    let ids: [String]
}

extension Trait where Self == Features {
    /// Names the rows of the catalogue of features that a test shows.
    package static func features(_ ids: String...) -> Self { Self(ids: ids) }
}
