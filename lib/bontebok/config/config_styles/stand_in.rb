# frozen_string_literal: true

module Bontebok
  module ConfigStyles
    # Extends a module that stands for a module of another server. The message about a missing constant has the name
    # that the file uses: Puma::MiniSSL, and not Bontebok::ConfigStyles::PumaObjects::MiniSSL.
    module StandIn
      PREFIX = /\ABontebok::ConfigStyles::(\w+)Objects/

      # The file may have loaded the other server, or a part of it.
      def const_missing(constant)
        own = name.sub(PREFIX, '\1')
        return Object.const_get("#{own}::#{constant}") if Object.const_defined?("#{own}::#{constant}")

        raise NameError, "uninitialized constant #{own}::#{constant}", caller
      end
    end
  end
end
