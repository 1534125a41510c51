# frozen_string_literal: true

# Makes core/src/representation/mime_table.h, the media types by extension: those of Rack, so that a file has the same
# type from the core as from Rack::Files. `bundle exec ruby core/mime_types.rb` writes the file, and
# test/lint/generated_test.rb compares it with the newest Rack.

require "rack/mime"

module MimeTypes
  PATH = File.join(__dir__, "src/representation/mime_table.h")
  COLUMNS = 110

  # Types that Rack lacks and browsers use, of IANA's registry. Other sources: Apple (pkpass), the WebM project (weba),
  # ECMA-426 (map).
  MISSING = {
    "aac" => "audio/aac",
    "epub" => "application/epub+zip",
    "flac" => "audio/flac",
    "geojson" => "application/geo+json",
    "glb" => "model/gltf-binary",
    "gltf" => "model/gltf+json",
    "jsonld" => "application/ld+json",
    "jxl" => "image/jxl",
    "map" => "application/json",
    "markdown" => "text/markdown",
    "md" => "text/markdown",
    "opus" => "audio/ogg",
    "pkpass" => "application/vnd.apple.pkpass",
    "usdz" => "model/vnd.usdz+zip",
    "weba" => "audio/webm",
    "webmanifest" => "application/manifest+json",
    "zst" => "application/zstd"
  }.freeze

  HEADER = <<~C
    /* mime_table.h: media types by extension, of Rack %s and of core/mime_types.rb, which makes this file.
     * Used by mime_types.c, which searches it. */
    #ifndef BB_MIME_TABLE_H
    #define BB_MIME_TABLE_H

    #define BB_EXTENSION_MAX 16

    struct bb__mime_entry {
        char extension[BB_EXTENSION_MAX]; /* in lower case, then NULs */
        const char *type;
    };

    /* Sorted by the bytes of the extension. */
    /* clang-format off */
    static const struct bb__mime_entry bb__mime_table[] = {
    %s};
    /* clang-format on */

    #endif
  C

  class << self
    def rack_version = Gem.loaded_specs.fetch("rack").version

    def made_from(text) = Gem::Version.new(text[/of Rack (\S+) /, 1])

    # version: of Rack, for the comment. types: { extension with its dot => type }
    def table(version = rack_version, types: Rack::Mime::MIME_TYPES)
      format(HEADER, version, rows(entries(types)).map { |row| "#{row}\n" }.join)
    end

    private

    def entries(types)
      of_rack = types.to_h { |extension, type| [extension.delete_prefix(".").downcase, type] }
      MISSING.merge(of_rack).sort.each { |extension, type| check(extension, type) }.tap { |found| check_order(found) }
    end

    # mime_types.c compares only these bytes while it searches.
    def check_order(entries)
      same = entries.map { |extension, _| extension[0, 8] }.tally.select { |_, count| count > 1 }
      raise ArgumentError, "several extensions begin with #{same.keys.join(", ")}" if same.any?
    end

    def check(extension, type)
      return if extension.match?(/\A[\x21-\x7e&&[^"\\]]{1,16}\z/) && type.match?(%r{\A[\w.+-]+/[\w.+-]+\z})

      raise ArgumentError, "#{extension}: #{type}"
    end

    # JSON has no charset (RFC 8259 11), and XML names its own.
    def with_charset(type)
      text = type.start_with?("text/") || %w[application/javascript application/ecmascript].include?(type)
      text ? "#{type}; charset=utf-8" : type
    end

    # The entries in lines as full as possible, because a file has a limit of lines.
    def rows(entries)
      entries.map { |extension, type| "{#{extension.inspect}, #{with_charset(type).inspect}}," }
             .each_with_object([+""]) do |entry, rows|
        rows << +"" if rows.last.size + entry.size + 1 > COLUMNS
        rows.last << (rows.last.empty? ? "    " : " ") << entry
      end
    end
  end
end

File.write(MimeTypes::PATH, MimeTypes.table) if $PROGRAM_NAME == __FILE__
