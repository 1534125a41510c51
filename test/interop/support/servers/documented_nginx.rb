# frozen_string_literal: true

require_relative "../nginx"

module Interop
  # nginx with the blocks of a document. Only the path of the unix socket and the addresses of nginx differ. The first
  # block has an upstream and a server. The other blocks are locations of this server.
  class DocumentedNginx < Nginx
    ROOT = File.expand_path("../../../..", __dir__)

    attr_reader :entrances

    # document: a path below the root of the source. entrances: { name => address }; nginx speaks HTTP/2 where the name
    # has "HTTP/2".
    def initialize(document, directory, backend, entrances)
      super(directory, backend)
      @document = document
      @entrances = entrances
    end

    private

    def sites
      frame, *locations = File.read(File.join(ROOT, @document)).scan(/^```nginx\n(.*?)^```$/m).flatten
      frame = replace(frame, %r{unix:/run/app/\w+\.sock}, "unix:#{@backend}")
      frame = replace(frame, /^server \{\n(?:\s*listen 80;\n)?/, "server {\n#{listen}")
      replace(frame, /^\}\n\z/, "#{locations.join}}\n")
    end

    def listen
      @entrances.map { |name, address| "listen #{address}#{" http2" if name.include?("HTTP/2")};\n" }.join
    end

    def replace(text, former, new)
      raise Support::Error, "#{@document} has no #{former}" unless text.match?(former)

      text.sub(former) { new }
    end
  end
end
