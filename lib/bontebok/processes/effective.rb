# frozen_string_literal: true

module Bontebok
  # The configuration and the listeners in effect. A deploy changes them, and the parts of a server see it.
  Effective = Struct.new(:config, :listeners)
end
