# frozen_string_literal: true

module Bontebok
  # Replaces methods of Ruby with methods of the server, for code of the application.
  module ReplacedMethods
    # Each method of the module `methods` replaces the method of the same name in each owner. That method is still
    # available under a name with the prefix, and has the same visibility.
    #
    # The module is not prepended. An application that wraps the method by alias_method would alias the prepended
    # method, and the two methods would call each other endlessly. For the same reason, the method of a module that a
    # library has prepended to owner is not the one that is kept.
    def self.replace(methods, prefix, *owners)
      owners.product(methods.instance_methods) do |owner, name|
        hidden = owner.private_method_defined?(name)
        kept = :"#{prefix}#{name}"
        own = owner.instance_method(name)
        own = own.super_method until own.owner == owner
        owner.define_method(kept, own)
        owner.define_method(name, methods.instance_method(name))
        owner.class_eval { private name, kept } if hidden
      end
    end
  end
end
