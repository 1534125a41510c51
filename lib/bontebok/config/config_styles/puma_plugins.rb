# frozen_string_literal: true

module Bontebok
  module ConfigStyles
    # The plugins that a file for puma names, and the directives that plugins define. No plugin of puma is loaded.
    class PumaPlugins
      # { plugin => what to do instead }
      PLUGINS = { "tailwindcss" => "run `bin/rails tailwindcss:watch` beside the server" }.freeze
      OTHER_PLUGIN = "plugins of puma are not loaded"

      # file: the ConfigFile.
      def initialize(file)
        @file = file
        @missing = []
      end

      # The puma file that Rails generates uses the plugin tmp_restart.
      def plugin(name)
        case name.to_s
        when "tmp_restart" then @file.set(:restart_file, "tmp/restart.txt")
        when "systemd" then nil # the server always sends messages to systemd
        when "solid_queue" then @file.companions.replace([:jobs])
        else
          @missing |= [name.to_s]
          @file.advise("plugin #{name}", PLUGINS.fetch(name.to_s, OTHER_PLUGIN))
        end
      end

      # Which plugins the file has named, for a message; nil: none. An unknown directive may belong to one of them.
      def missing
        return if @missing.empty?

        @missing.one? ? "the plugin #{@missing.first} is" : "the plugins #{@missing.join(', ')} are"
      end
    end
  end
end
