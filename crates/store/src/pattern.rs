//! Patterns of searches: `*` any characters, `?` one, `\` takes the next character literally. They tell upper case from lower case.

/// One piece of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    Many,
    One,
    Just(char),
}

/// As SQLite's GLOB has it: there is no escape, so what is special stands in brackets.
pub(crate) fn to_glob(pattern: &str) -> String {
    let mut glob = String::with_capacity(pattern.len());
    for piece in pieces(pattern) {
        match piece {
            Piece::Many => glob.push('*'),
            Piece::One => glob.push('?'),
            Piece::Just(special @ ('*' | '?' | '[')) => glob.extend(['[', special, ']']),
            Piece::Just(plain) => glob.push(plain),
        }
    }
    glob
}

/// As LIKE … ESCAPE '\' has it.
pub(crate) fn to_like(pattern: &str) -> String {
    let mut like = String::with_capacity(pattern.len());
    for piece in pieces(pattern) {
        match piece {
            Piece::Many => like.push('%'),
            Piece::One => like.push('_'),
            Piece::Just(special @ ('%' | '_' | '\\')) => like.extend(['\\', special]),
            Piece::Just(plain) => like.push(plain),
        }
    }
    like
}

/// Whether the whole text matches.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    let pieces: Vec<Piece> = pieces(pattern).collect();
    let text: Vec<char> = text.chars().collect();
    let (mut piece, mut at) = (0, 0);
    // Where to go on if what follows the last `*` fails: let it take one character more.
    let mut retry: Option<(usize, usize)> = None;
    while at < text.len() {
        match pieces.get(piece) {
            Some(Piece::Many) => {
                retry = Some((piece + 1, at));
                piece += 1;
            }
            Some(Piece::One) => (piece, at) = (piece + 1, at + 1),
            Some(Piece::Just(character)) if *character == text[at] => (piece, at) = (piece + 1, at + 1),
            Some(Piece::Just(_)) | None => match retry {
                Some((after, from)) => {
                    retry = Some((after, from + 1));
                    (piece, at) = (after, from + 1);
                }
                None => return false,
            },
        }
    }
    pieces[piece..].iter().all(|piece| *piece == Piece::Many)
}

fn pieces(pattern: &str) -> impl Iterator<Item = Piece> + '_ {
    let mut characters = pattern.chars();
    std::iter::from_fn(move || {
        Some(match characters.next()? {
            '*' => Piece::Many,
            '?' => Piece::One,
            // At the very end it stands for itself.
            '\\' => Piece::Just(characters.next().unwrap_or('\\')),
            plain => Piece::Just(plain),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table() {
        let cases = [
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("a*", "abc", true),
            ("a*", "Abc", false),
            ("*b*", "abc", true),
            ("a?c", "abc", true),
            ("a?c", "aüc", true),
            ("a?", "a", false),
            ("a\\*", "a*", true),
            ("a\\*", "ab", false),
            ("a\\\\b", "a\\b", true),
            ("a\\", "a\\", true),
            ("*a*b", "xaybzb", true),
            ("*a*b", "xaybzc", false),
            ("100%_", "100%_", true),
            ("100%_", "100xy", false),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(matches(pattern, text), expected, "{pattern} on {text}");
        }
    }

    #[test]
    fn translations() {
        assert_eq!(to_glob("a*?\\*[%"), "a*?[*][[]%");
        assert_eq!(to_like("a*?\\*[%_\\\\"), "a%_*[\\%\\_\\\\");
    }
}
