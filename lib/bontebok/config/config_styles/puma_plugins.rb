# frozen_string_literal: true

require_relative "../start_advice/rails_advice"

module Bontebok
  module ConfigStyles
    # The directive `plugin` of a file for puma, and the directives that plugins define. No plugin of puma is loaded.
    module PumaPlugins
      # { plugin => what to do instead }
      PLUGINS = { "solid_queue" => StartAdvice::RailsAdvice::JOBS,
                  "tailwindcss" => "run `bin/rails tailwindcss:watch` beside the server" }.freeze
      OTHER_PLUGIN = "plugins of puma are not loaded"

      # The puma file that Rails generates uses the plugin tmp_restart.
      def plugin(name)
        case name.to_s
        when "tmp_restart" then @bontebok_file.set(:restart_file, "tmp/restart.txt")
        when "systemd" then nil # the server always sends messages to systemd
        else
          (@bontebok_missing_plugins ||= []) << name.to_s
          @bontebok_file.advise("plugin #{name}", PLUGINS.fetch(name.to_s, OTHER_PLUGIN))
        end
      end

      private

      # The directive may belong to a plugin that the file has named before.
      def report_unknown(directive)
        return super unless @bontebok_missing_plugins

        names = @bontebok_missing_plugins.uniq
        missing = names.one? ? "the plugin #{names.first} is" : "the plugins #{names.join(', ')} are"
        hint = hint(directive)
        @bontebok_file.advise(directive, "#{missing} not loaded#{" (#{hint})" if hint}")
      end
    end
  end
end
