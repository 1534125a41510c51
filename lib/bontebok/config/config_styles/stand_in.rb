# frozen_string_literal: true

module Bontebok
  module ConfigStyles
    # Extends a module that stands for a module of another server. The message about a missing constant has the name
    # that the file uses: Puma::MiniSSL, and not Bontebok::ConfigStyles::PumaObjects::MiniSSL.
    module StandIn
      PREFIX = /\ABontebok::ConfigStyles::(\w+)Objects/

      def const_missing(constant)
        raise NameError, "uninitialized constant #{name.sub(PREFIX, '\1')}::#{constant}", caller
      end
    end
  end
end
