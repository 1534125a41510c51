# frozen_string_literal: true

require_relative "../../support/nginx"

module Interop
  # nginx with the configuration of docs/PERL.md. Only the path of the unix socket and the address of nginx differ.
  class DocumentedNginx < Nginx
    DOCUMENT = File.expand_path("../../../../docs/PERL.md", __dir__)
    BLOCK = File.read(DOCUMENT)[/^```nginx\n(.*?)^```$/m, 1]
    NAME = "nginx"

    attr_reader :entrances

    # port: where nginx listens.
    def initialize(directory, backend, port)
      super(directory, backend)
      @port = port
      @entrances = { NAME => "127.0.0.1:#{port}" }
    end

    private

    def sites
      changes = { "unix:/run/app/app.sock" => "unix:#{@backend}", "listen 80;" => "listen 127.0.0.1:#{@port};" }
      changes.each_with_object(BLOCK.dup) do |(former, new), text|
        text.sub!(former) { new } || raise(Support::Error, "#{DOCUMENT} has no #{former}")
      end
    end
  end
end
