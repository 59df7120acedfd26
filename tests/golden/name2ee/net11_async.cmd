file: --no-files corefiles/hang11.core.zst
name2ee hang.dll Shop.Checkout.Place
