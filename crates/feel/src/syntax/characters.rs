//! Which characters are space, and which may be part of a name.

/// Space between tokens: the standard's list.
pub(super) fn is_space(c: char) -> bool {
    matches!(
        c,
        '\u{9}'..='\u{d}'
            | ' '
            | '\u{85}'
            | '\u{a0}'
            | '\u{1680}'
            | '\u{180e}'
            | '\u{2000}'..='\u{200b}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{202f}'
            | '\u{205f}'
            | '\u{3000}'
            | '\u{feff}'
    )
}

/// What a name may begin with.
pub(super) fn is_name_start(c: char) -> bool {
    match c {
        'a'..='z' | 'A'..='Z' | '_' | '$' => true,
        _ if c.is_ascii() => false,
        '¢'..='¥' | '\u{20a0}'..='\u{20cf}' | '\u{203f}' | '\u{2040}' => true,
        _ => c.is_alphabetic() || ('\u{10000}' <= c && !c.is_numeric()),
    }
}

/// What a name may go on with.
pub(super) fn is_name_part(c: char) -> bool {
    match c {
        '0'..='9' => true,
        _ if is_name_start(c) => true,
        _ if c.is_ascii() || is_space(c) => false,
        '\u{300}'..='\u{36f}' | '\u{200c}' | '\u{200d}' => true,
        _ => c.is_alphanumeric(),
    }
}
