# frozen_string_literal: true

module Bontebok
  # The part of Config with the defaults that depend on the system or on other options.
  module Defaults
    private

    def default(option)
      case option.key
      when :listen then [Address.new(host: default_host, port: 9292)]
      when :tag then File.basename(Dir.pwd).b.gsub(/[^\x20-\x7e]/n, "?")
      when :worker_timeout then development? ? 0 : 60_000
      when :control then control_default
      when :hijack_timeout then self[:graceful_timeout]
      else option.default
      end
    end

    # The name of the working directory can be a link (Capistrano's `current`), which leads to another release later.
    # So the default is in the directory that the link leads to now.
    def control_default
      "#{Dir.pwd}/tmp/bontebok.control" if File.directory?("tmp") && File.writable?("tmp")
    end

    def default_host
      development? ? "127.0.0.1" : "0.0.0.0"
    end
  end
end
